import { chromium } from 'playwright'
import { findChromium } from './chromium.ts'
const { launchOptions } = await findChromium()
const browser = await chromium.launch(launchOptions)
const page = await browser.newPage()
page.on('console', (m) => console.log(m.type(), m.text()))
page.on('pageerror', (e) => console.log(e.stack))
page.on('requestfailed', (r) => console.log('failed', r.url()))
await page.goto('http://127.0.0.1:4391/')
await page.waitForTimeout(3000)
console.log((await page.locator('body').innerHTML()).slice(0, 600))
await browser.close()
