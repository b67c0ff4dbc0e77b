import { defineConfig } from 'vitest/config';

const SURROUNDINGS = ['test/environment.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/unit/**/*.test.ts'],
          setupFiles: SURROUNDINGS,
          isolate: false,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          setupFiles: SURROUNDINGS,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          setupFiles: SURROUNDINGS,
          testTimeout: 120_000,
          // A cold build of the control plane from Go modules is part of the first file's set-up.
          hookTimeout: 45 * 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
