import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { Hono } from 'hono'
import { build } from 'vite'
import { toNodeHandler } from '../adapters/node/index.ts'
import { weatherApp } from '../examples/frameworks/agent.ts'
import { browserName, expect, test } from './browser.ts'

/** The pages as Vite builds them, beside their endpoint: as examples/frameworks/serve.ts serves them while one writes them. */
const pages = [
  ['react', 'examples/frameworks/react/page.tsx'],
  ['vue', 'examples/frameworks/vue/main.ts'],
  ['svelte', 'examples/frameworks/svelte/main.ts'],
  ['solid', 'examples/frameworks/solid/page.tsx'],
] as const

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

let url = ''
let close = async () => undefined as unknown

test.beforeAll(async () => {
  const outDir = await mkdtemp(join(tmpdir(), 'phi-frameworks-'))
  const root = resolve('examples/frameworks')
  await build({ root, configFile: resolve('examples/frameworks/vite.config.ts'), logLevel: 'error', build: { outDir, emptyOutDir: true } })
  const app = new Hono().route('/agent', weatherApp())
  app.get('*', async ({ req }) => {
    const path = req.path.endsWith('/') ? `${req.path}index.html` : req.path
    return new Response(await readFile(join(outDir, path)), { headers: { 'content-type': types[extname(path)] ?? 'text/plain' } })
  })
  const server = createServer(toNodeHandler(app.fetch))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = async () => {
    server.closeAllConnections()
    server.close()
    await rm(outDir, { recursive: true, force: true })
  }
})

test.afterAll(() => close())

test.describe.configure({ mode: 'default' })
test.skip(browserName !== 'chromium', 'The pages are served beside the playground, at an address of their own.')

for (const [name] of pages) {
  test(`${name}: asks, is approved, is loaded again in the middle, and is stopped`, async ({ page }) => {
    const wrong: string[] = []
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('favicon')) wrong.push(message.text())
    })
    const composer = page.getByRole('textbox', { name: 'Message' })
    const form = page.locator('form')
    const call = page.getByRole('region', { name: 'weather' })
    await page.goto(`${url}/${name}/`)
    await composer.fill('Will it rain?')
    await composer.press('Enter')
    await expect(call).toHaveAttribute('data-status', 'pendingApproval')
    await expect(composer).toHaveValue('')
    await expect(page.getByText('Let me see.')).toBeVisible()
    // The run waits on the server: another page finds it.
    await page.reload()
    await expect(call.getByText('The weather in Oslo')).toBeVisible()
    await call.getByRole('button', { name: 'Allow' }).click()
    await expect(page.getByText('Rain: 80 %')).toBeVisible()
    await expect(page.getByText('Take an umbrella, says a scripted model.')).toBeVisible()
    await expect(form).toHaveAttribute('data-status', 'completed')

    await composer.fill('Tell me a story')
    await composer.press('Enter')
    await expect(page.getByText('Once upon a time and then')).toBeVisible()
    await page.reload()
    await expect(page.getByText('Once upon a time and then')).toBeVisible()
    await expect(form).toHaveAttribute('data-status', 'running')
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect(form).toHaveAttribute('data-status', 'aborted')
    await expect(page.getByText('it ended.')).toHaveCount(0)
    await expect(page.locator('li[data-role=user]')).toHaveCount(2)
    expect(wrong).toEqual([])
  })
}
