import { existsSync } from 'node:fs'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { findChromium } from './scripts/chromium.ts'

/** Tests with bindings run inside a Worker (vitest-plugin); there is no such project while there are no such tests. */
const workers = existsSync('test/workers')
  ? [
      {
        plugins: [cloudflareTest({ wrangler: { configPath: './wrangler.toml' } })],
        test: { name: 'workers', include: ['test/workers/**/*.test.ts'] },
      },
    ]
  : []

/** The fixture server, started once per project; tests read its address through test/harness/env.ts. */
const fixture = { globalSetup: ['test/harness/global-setup.ts'], setupFiles: ['test/harness/setup.ts'] }

/** One file for both: the playground's build and preview, and the vitest projects (one per runtime that vitest drives). */
export default defineConfig(async () => {
  const chromium = process.env.VITEST ? await findChromium() : undefined
  return {
    build: { outDir: '../dist-playground', emptyOutDir: true, target: 'es2022' },
    preview: { host: '127.0.0.1', port: 4173, strictPort: true },
    server: { host: '127.0.0.1' },
    test: {
      projects: [
        {
          test: {
            ...fixture,
            name: 'node',
            environment: 'node',
            include: ['test/**/*.test.ts'],
            exclude: ['test/workers/**', 'test/browser/**', 'test/harness/workerd.test.ts'],
          },
        },
        { test: { ...fixture, name: 'workerd', environment: 'node', include: ['test/harness/workerd.test.ts'] } },
        {
          test: {
            ...fixture,
            name: 'chromium',
            include: ['test/shared/**/*.test.ts', 'test/browser/**/*.test.ts'],
            browser: {
              enabled: true,
              headless: true,
              screenshotFailures: false,
              instances: [{ browser: 'chromium' as const }],
              provider: playwright({ launchOptions: chromium?.launchOptions ?? {} }),
            },
          },
        },
        ...workers,
      ],
    },
  }
})
