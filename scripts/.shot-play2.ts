import { chromium } from 'playwright'
import { findChromium } from './chromium.ts'

const base = process.argv[2]
const which = process.argv[3] ?? 'all'
const { launchOptions } = await findChromium()
const browser = await chromium.launch(launchOptions)
for (const [w, h] of [
  [1440, 900],
  [1024, 768],
  [390, 844],
])
  for (const scheme of ['light', 'dark'] as const) {
    if (process.argv[4] && !process.argv[4].includes(`${w}${scheme}`)) continue
    const page = await browser.newPage({ viewport: { width: w, height: h }, colorScheme: scheme })
    page.on('console', (m) => {
      if (m.type() !== 'log') console.log(w, scheme, m.type(), m.text())
    })
    page.on('pageerror', (e) => console.log(w, scheme, e.message))
    const shot = (name: string) => page.screenshot({ path: `/tmp/play2-shots/${name}-${w}-${scheme}.png` })
    await page.goto(base)
    await page.getByTestId('model-button').waitFor()
    if (which === 'all' || which.includes('settings')) {
      await page.getByTestId('model-button').click()
      await page.getByText('Your own key').waitFor()
      await shot('settings-scripted')
      await page.getByText('Your own key').click()
      await shot('settings-direct')
      await page.getByRole('tab', { name: 'Agent' }).click()
      await shot('settings-agent')
      await page.getByRole('tab', { name: 'View code' }).click()
      await page.waitForTimeout(500)
      await shot('settings-code')
      await page.getByRole('button', { name: 'Cancel' }).click()
    }
    const palette = async (name: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Command' }).fill(name)
      await page.keyboard.press('Enter')
    }
    if (which === 'all' || which.includes('compare')) {
      await palette('compare 2')
      await page.getByRole('button', { name: 'Compare', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Configuration', exact: true }).click()
      await shot('compare-dialog')
      await page.getByRole('button', { name: 'Compare', exact: true }).click()
      await page.waitForTimeout(700)
      await shot('compare-running')
      await page.locator('details[data-testid=race]').waitFor()
      await page.waitForTimeout(500)
      await shot('compare-done')
    }
    if (which === 'all' || which.includes('replay')) {
      await palette('scenario thinking')
      await page.getByTestId('run-status').and(page.locator('[data-status=completed]')).waitFor({ timeout: 30000 })
      await page.waitForTimeout(300)
      await palette('replay this')
      await page.getByTestId('replay').waitFor()
      await page.waitForTimeout(1800)
      await shot('replay')
    }
    await page.close()
  }
await browser.close()
