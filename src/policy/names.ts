/** What Kubernetes asks of most names (RFC 1123): of namespaces, and of what a label names. */
export const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What it asks of the names of other objects, and of API groups; they may be 253 characters long. */
export const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
