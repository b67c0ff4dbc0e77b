import { readFileSync } from 'node:fs';

// Adds up vitest's JSON reports into the one line that CI reads, after the names of the tests that failed: a CI that shows the end of
// its output shows those. A run without a test, or with a skipped one, has failed.
let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  for (const { name, message, assertionResults } of report.testResults) {
    for (const { status, fullName, failureMessages } of assertionResults)
      if (status === 'failed') console.log(`FAILED ${name}: ${fullName}\n${failureMessages.join('\n')}\n`);
    // What could not be loaded, or set up, has no failed test.
    if (!message) continue;
    console.log(`FAILED ${name}\n${message}\n`);
    failed += 1;
  }
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests + report.numTodoTests;
}
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed === 0 && skipped === 0 && passed > 0 ? 0 : 1;
