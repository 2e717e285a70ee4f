import { defineConfig } from 'playwright/test'
import { findChromium } from '../scripts/browsers/chromium.ts'
import { freePort } from '../scripts/browsers/free-port.ts'
import { browserName, everywhere, main } from './page/browser.ts'

// Every process that reads this file takes the port that the first one found free.
process.env.PHI_PLAYGROUND_PORT ??= String(await freePort())
const port = process.env.PHI_PLAYGROUND_PORT
const address = `http://127.0.0.1:${port}`

// `npm test` builds once for all browsers.
const build = process.env.PHI_PLAYGROUND_BUILT === 'true' ? '' : 'npx vite build playground -c vite.config.ts && '

/** `main` runs the main stories, `rest` all others, and nothing both. */
const stories = process.env.PHI_STORIES
if (stories !== undefined && stories !== 'main' && stories !== 'rest')
  throw new Error(`PHI_STORIES=${stories} is not a set of stories. Use main or rest, or leave it out for all.`)

/** Each tag that a story needs to run. Playwright matches a story's title followed by its tags. */
const needed = [...(browserName === 'chromium' ? [] : [everywhere.tag]), ...(stories === 'main' ? [main.tag] : [])]

const inChromium = { browserName: 'chromium', headless: true } as const

// Playwright takes the default export. The built page is served by vite preview, on loopback and this port only.
export default defineConfig({
  expect: { timeout: 60_000 }, // a scripted run takes its time on a busy machine
  testDir: '.',
  testMatch: '*.e2e.ts',
  grep: new RegExp(needed.map((tag) => `(?=.*${tag}\\b)`).join('')),
  ...(stories === 'rest' && { grepInvert: new RegExp(`${main.tag}\\b`) }),
  // A test mostly waits for a scripted stream. Each has a context of its own, and each worker its own browser: nothing is shared but the page.
  fullyParallel: true,
  workers: browserName === 'webkit' ? 1 : 2, // two WebKits ran out of time on a busy machine
  reporter: 'list',
  timeout: 240_000, // it ends a test that hangs; a busy machine takes many times as long
  outputDir: `../node_modules/.cache/e2e/${browserName}`,
  use: { baseURL: address, ...(browserName === 'chromium' && { ...inChromium, launchOptions: (await findChromium()).launchOptions }) },
  webServer: {
    command: `${build}npx vite preview playground -c vite.config.ts --port ${port}`,
    url: `${address}/`,
    cwd: '..',
    reuseExistingServer: false,
    timeout: 120_000,
  },
})
