import { readFileSync } from 'node:fs';

// Adds up vitest's JSON reports into the one line that CI reads. A run without a test, or with a skipped one, has failed.
let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests + report.numTodoTests;
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && skipped === 0 && passed > 0 ? 0 : 1;
