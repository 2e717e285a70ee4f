/**
 * Takes pictures of the playground: `npm run screenshots` takes the two that README shows, in `docs/images/`, and every view of `screenshots/views.ts` at
 * 1440, 1024, 820 and 390 px, light and dark, in `node_modules/.cache/screenshots/`, with an `index.html` of them all, and names the rules of the styles that
 * no view needs. `npm run screenshots -- trace request --width 390 --theme dark` takes only these, and `--readme` only the two.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright'
import { build, preview } from 'vite'
import { findChromium } from './browsers/chromium.ts'
import { finish, openPage, settle, tab } from './screenshots/steps.ts'
import { type Choice, takeView } from './screenshots/take.ts'
import { UnusedRules } from './screenshots/unused-rules.ts'
import { views } from './screenshots/views.ts'

const folder = 'node_modules/.cache/screenshots'
const committed = 'docs/images'
const pictures = [
  { name: 'playground-light', colorScheme: 'light', scenario: 'Thinking and tools', tabName: 'Trace' },
  { name: 'playground-dark', colorScheme: 'dark', scenario: 'Compaction', tabName: 'Request' },
] as const

const { values, positionals: wanted } = parseArgs({
  options: { width: { type: 'string' }, theme: { type: 'string' }, readme: { type: 'boolean' } },
  allowPositionals: true,
})
const choice: Choice = { width: values.width === undefined ? undefined : Number(values.width), theme: values.theme }
const unknown = wanted.filter((name) => !views.some((view) => view.name === name))
if (unknown.length > 0)
  throw new Error(`No view is called ${unknown.join(' or ')}. There are: ${views.map(({ name }) => name).join(', ')}.`)

// In a place of its own: tests may be looking at the built page.
const built = { outDir: '../node_modules/.cache/screenshots-page', emptyOutDir: true }
const config = { root: 'playground', configFile: 'vite.config.ts', logLevel: 'warn', build: built } as const
await build(config)
const server = await preview({ ...config, preview: { port: 0, strictPort: false } })
const address = server.resolvedUrls?.local[0]
if (address === undefined) throw new Error('The preview has no address.')
const browser = await chromium.launch({ ...(await findChromium()).launchOptions, headless: true })

mkdirSync(folder, { recursive: true })
const failures: string[] = []
const rules = new UnusedRules()
for (const view of values.readme ? [] : wanted.length === 0 ? views : views.filter(({ name }) => wanted.includes(name))) {
  const before = Date.now()
  try {
    await takeView(browser, address, view, folder, choice, rules)
    console.log(`${view.name} (${((Date.now() - before) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failures.push(view.name)
    console.error(`${view.name}: ${error instanceof Error ? error.message : error}`)
  }
}
const isAll = process.argv.length === 2
if (isAll || values.readme) await takePictures(browser, address)
if (wanted.length === 0 && !values.readme) console.log(`Rules that no view needs: ${rules.selectors.join(' · ') || 'none'}`)
writeIndex()

await browser.close()
await server.close()
if (failures.length > 0) process.exitCode = 1

/** The two pictures that are committed. */
async function takePictures(browser: Browser, address: string): Promise<void> {
  for (const { name, colorScheme, scenario, tabName } of pictures) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme, reducedMotion: 'reduce' })
    await openPage(page, address)
    await finish(page, scenario)
    await tab(page, tabName)
    await settle(page)
    writeFileSync(`${committed}/${name}.webp`, await asWebp(page, await page.screenshot()))
    await page.close()
  }
}

/** A third of the size: the package has these pictures too. */
async function asWebp(page: Page, png: Buffer): Promise<Buffer> {
  const data = await page.evaluate(async (base64) => {
    const image = new Image()
    image.src = `data:image/png;base64,${base64}`
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    canvas.getContext('2d')?.drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.72)
  }, png.toString('base64'))
  return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64')
}

/** All pictures on one page, to be looked through. */
function writeIndex(): void {
  const files = readdirSync(folder).filter((file) => file.endsWith('.png'))
  const figures = files.map(
    (file) => `<figure><a href="${file}"><img src="${file}" width="480"></a><figcaption>${file}</figcaption></figure>`,
  )
  writeFileSync(
    `${folder}/index.html`,
    `<!doctype html><title>Views</title><style>figure{display:inline-block;margin:8px}</style>${figures.join('\n')}`,
  )
}
