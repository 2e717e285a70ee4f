import type { Page } from 'playwright/test'
import { anthropic } from '../../test/harness/server/anthropic.ts'
import { expect, main, test } from '../page/browser.ts'
import { anyPage, serveModel } from '../page/model-server.ts'
import { command, composer, exported, say, status, tab } from '../page/playground-page.ts'

const key = 'sk-ant-of-the-visitor-0123456789'

/** Everything that the browser keeps for the page, and everything that stands in it. Runs there. */
async function kept(): Promise<string> {
  const done = <Value>(request: IDBRequest<Value>): Promise<Value> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  async function textsIn(directory: FileSystemDirectoryHandle): Promise<string[]> {
    const texts: string[] = []
    for await (const entry of directory.values()) {
      texts.push(entry.name)
      if (entry instanceof FileSystemFileHandle) texts.push(await (await entry.getFile()).text())
      if (entry instanceof FileSystemDirectoryHandle) texts.push(...(await textsIn(entry)))
    }
    return texts
  }
  const found: unknown[] = [{ ...localStorage }, { ...sessionStorage }, document.cookie, window.name, history.state, location.href]
  found.push(
    document.documentElement.outerHTML,
    [...document.querySelectorAll('input,textarea')].map((field) => Reflect.get(field, 'value')),
  )
  for (const { name = '' } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name))
    for (const store of database.objectStoreNames) found.push(await done(database.transaction(store).objectStore(store).getAll()))
    database.close()
  }
  found.push(await textsIn(await navigator.storage.getDirectory()))
  for (const name of await caches.keys()) {
    for (const { url, headers } of await (await caches.open(name)).keys()) found.push(url, [...headers])
  }
  return JSON.stringify(found)
}

/** Which of these texts are anywhere. */
async function found(page: Page, texts: readonly string[]): Promise<string[]> {
  const all = await page.evaluate(kept)
  return texts.filter((text) => all.includes(text))
}

async function enterKey(page: Page, address: string): Promise<void> {
  await page.getByTestId('model-button').click()
  await page.getByText('Your own key').click()
  await page.getByLabel('Address').fill(address)
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.getByRole('tab', { name: 'View code' }).click()
  await expect(page.getByTestId('program')).toContainText('process.env.ANTHROPIC_API_KEY')
  await expect(page.getByTestId('program')).not.toContainText(key)
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByTestId('model-button')).toContainText('claude-sonnet')
}

test('keeps an API key in memory only and removes it on request', main, async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  // The second call is refused by a service that repeats the key.
  await using service = await serveModel(anthropic, () =>
    service.requests.length === 1
      ? { text: ['Hello ', 'from the service.'] }
      : new Response(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: `Too much asked with ${key}.` } }), {
          status: 400,
          headers: { ...anyPage, 'content-type': 'application/json' },
        }),
  )
  await page.goto('/')
  await enterKey(page, service.url)
  await expect(page.getByTestId('key-banner')).toBeVisible()
  await say(page, 'Hello?')
  await expect(page.getByTestId('message-assistant')).toContainText('Hello from the service.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await say(page, 'Once more?')
  await expect(status(page)).toHaveAttribute('data-status', 'error')
  expect(service.requests.map(({ headers }) => headers.get('x-api-key'))).toEqual([key, key])
  // What is looked for is found: an answer, an error, a file.
  expect(await found(page, ['Hello from the service.', 'Too much asked with', 'Sighted two walruses'])).toHaveLength(3)
  expect(await found(page, [key])).toEqual([])
  await tab(page, 'Request')
  await page.getByRole('button', { name: 'Copy as cURL, without the key' }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('curl ')
  expect(await page.evaluate(() => navigator.clipboard.readText())).not.toContain(key)

  await page.getByTestId('key-banner').getByRole('button', { name: 'Forget' }).click()
  await expect(page.getByTestId('key-banner')).toHaveCount(0)
  await page.reload()
  await expect(page.getByTestId('message-assistant').first()).toContainText('Hello from the service.')
  await expect(page.getByTestId('key-banner')).toHaveCount(0)
  expect(await found(page, [key])).toEqual([])
  for (const format of ['phi', 'rust', 'markdown']) expect((await exported(page, format)).text).not.toContain(key)
  await say(page, 'And now?')
  await expect(status(page)).toHaveAttribute('data-status', 'error')
  await expect(page.getByRole('alert').first()).toContainText('No key is set')
  expect(service.requests).toHaveLength(2)
})

test('restores a stored key after a reload and deletes it on request', async ({ page }) => {
  await page.goto('/')
  await enterKey(page, 'http://127.0.0.1:9')
  await page.getByTestId('model-button').click()
  await page.getByText('Keep until this tab is closed').click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.reload()
  await expect(page.getByTestId('key-banner')).toBeVisible()
  const places = await page.evaluate(() => [JSON.stringify({ ...sessionStorage }), JSON.stringify({ ...localStorage })])
  expect(places.map((text) => text.includes(key))).toEqual([true, false])
  await command(page, 'settings')
  await page.getByRole('button', { name: 'Forget keys' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByTestId('key-banner')).toHaveCount(0)
  expect(await found(page, [key])).toEqual([])
  await page.reload()
  await expect(composer(page)).toBeVisible()
  await expect(page.getByTestId('key-banner')).toHaveCount(0)
  expect(await found(page, [key])).toEqual([])
})
