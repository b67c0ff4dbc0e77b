/**
 * Every test, and every program that a test starts, sees the same surroundings: no CI, no taste in colours, no locale, no cluster
 * and no setting of gpugate from the outside. Node itself prints no colours to a terminal where `CI` is set.
 * What our own tests read (GPUGATE_KUBERNETES, GPUGATE_PROPERTY_RUNS and the like) stays.
 */
const OUTSIDE =
  /^(CI|GITHUB_.*|TEAMCITY_VERSION|TF_BUILD|NO_COLOR|FORCE_COLOR|NODE_DISABLE_COLORS|COLORTERM|TERM_PROGRAM|TMUX|LANG|LANGUAGE|LC_.*|KUBECONFIG|KUBERNETES_.*|GPUGATE_.*)$/;
const OURS = /^GPUGATE_(KUBERNETES|PROPERTY_RUNS|CREATIONS|CHAOS_.*|CERT_LIFE|STREAM_SECONDS)$/;

for (const name of Object.keys(process.env)) if (OUTSIDE.test(name) && !OURS.test(name)) delete process.env[name];
