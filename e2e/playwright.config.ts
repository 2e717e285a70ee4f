import { defineConfig } from 'playwright/test'
import { findChromium } from '../scripts/chromium.ts'

const { launchOptions } = await findChromium()

// Playwright takes the default export. The built page is served by vite preview, on loopback and this port only.
export default defineConfig({
  expect: { timeout: 20_000 }, // a scripted run takes its time on a busy machine
  testDir: '.',
  testMatch: '*.e2e.ts',
  workers: 1,
  reporter: 'list',
  timeout: 30_000,
  outputDir: '../node_modules/.cache/e2e',
  use: { baseURL: 'http://127.0.0.1:4173', browserName: 'chromium', headless: true, launchOptions },
  webServer: {
    command: 'npx vite build playground -c vite.config.ts && npx vite preview playground -c vite.config.ts',
    url: 'http://127.0.0.1:4173/',
    cwd: '..',
    reuseExistingServer: false,
  },
})
