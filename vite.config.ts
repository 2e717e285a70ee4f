import { readFileSync } from 'node:fs'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { findChromium } from './scripts/chromium.ts'

/** The fixture server, started once per project; tests read its address through test/harness/env.ts. */
const fixture = { globalSetup: ['test/harness/global-setup.ts'], setupFiles: ['test/harness/setup.ts'] }

/** The package's own name leads to its source, as tsconfig.json says: tests of examples and of the code share one copy. */
const resolve = { tsconfigPaths: true }

const node = {
  resolve,
  test: {
    ...fixture,
    name: 'node',
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/harness/workerd.test.ts'],
    // Long enough for thousands of random cases on a busy machine: 5 s, the default, failed one when another job took a core.
    testTimeout: 30_000,
  },
}

/** The shared suite inside the bare workerd binary; this project only reports what happens there. */
const workerd = { test: { ...fixture, name: 'workerd', environment: 'node', include: ['test/harness/workerd.test.ts'] } }

function dependencies(): string[] {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.keys(manifest.dependencies)
}

/** Absent where there is no browser: the other projects still run, and `--project chromium` fails. */
async function chromium() {
  try {
    const { launchOptions } = await findChromium()
    const browser = {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      instances: [{ browser: 'chromium' as const }],
      provider: playwright({ launchOptions }),
    }
    // Known from the start: a dependency that vite discovers late reloads the page under a running test.
    const optimizeDeps = { include: dependencies() }
    return [
      {
        resolve,
        optimizeDeps,
        test: { ...fixture, name: 'chromium', include: ['test/shared/**/*.test.ts', 'test/browser/**/*.test.ts'], browser },
      },
    ]
  } catch (error) {
    console.warn(error instanceof Error ? error.message : error)
    return []
  }
}

/** One file for both: the playground's build and preview, and the vitest projects, one per runtime that vitest can drive. */
export default defineConfig(async () => ({
  build: { outDir: '../dist-playground', emptyOutDir: true, target: 'es2023' },
  server: { host: '127.0.0.1' },
  preview: { host: '127.0.0.1', port: 4173, strictPort: true },
  test: process.env.VITEST ? { projects: [node, workerd, ...(await chromium())] } : {},
}))
