/** Takes the pictures of the playground that README shows, in `docs/images/`: `npm run screenshots`. */
import { mkdirSync } from 'node:fs'
import { chromium } from 'playwright'
import { build, preview } from 'vite'
import { findChromium } from './chromium.ts'

const folder = 'docs/images'
const pictures = [
  { name: 'playground-light', colorScheme: 'light', scenario: 'Thinking and tools', tab: 'Trace' },
  { name: 'playground-dark', colorScheme: 'dark', scenario: 'Compaction', tab: 'Request' },
] as const

mkdirSync(folder, { recursive: true })
const config = { root: 'playground', configFile: 'vite.config.ts', logLevel: 'warn' } as const
await build(config)
const server = await preview({ ...config, preview: { port: 0, strictPort: false } })
const address = server.resolvedUrls?.local[0]
if (address === undefined) throw new Error('The preview has no address.')
const browser = await chromium.launch({ ...(await findChromium()).launchOptions, headless: true })

for (const { name, colorScheme, scenario, tab } of pictures) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme, reducedMotion: 'reduce' })
  await page.goto(address)
  await page.getByRole('button', { name: scenario, exact: true }).click()
  await page.locator('[data-testid=run-status][data-status=completed]').waitFor()
  await page.getByRole('tab', { name: tab }).click()
  // Thinking folds a second after it ended.
  await page.waitForTimeout(1500)
  await page.screenshot({ path: `${folder}/${name}.png` })
  await page.close()
}

await browser.close()
await server.close()
