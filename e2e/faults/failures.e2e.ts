import type { Page } from 'playwright/test'
import { openai } from '../../test/harness/server/openai.ts'
import { everywhere, expect, main, mainEverywhere, test } from '../page/browser.ts'
import { piece, streamed } from '../page/chunks.ts'
import { anyPage, type ModelServer, serveModel } from '../page/model-server.ts'
import { chooseLocalServer, quickPage, say, status } from '../page/playground-page.ts'

const words = 'These words must not be lost.'

/** An answer of the service that is no stream. */
function refusal(code: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status: code, headers: { ...anyPage, 'content-type': 'application/json', ...headers } })
}

interface Failing {
  answer: () => Response
  /** What the page says, in the words of the service. */
  says: RegExp
  /** What it offers. */
  offers: readonly string[]
  /** Of the pill. */
  word?: string
}

const failing: Record<string, Failing> = {
  'a key that is refused': {
    answer: () => refusal(401, '{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}'),
    says: /rejected the API key at http\S+ \(401\)/,
    offers: ['Try again', 'Open settings'],
  },
  'a rate limit': {
    answer: () => refusal(429, '{"error":{"message":"Slow down, please."}}', { 'x-should-retry': 'false' }),
    says: /rate limiting requests \(429\): Slow down, please\./,
    offers: ['Try again'],
  },
  'a quota that is used up': {
    answer: () => refusal(429, '{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}'),
    says: /quota or credit is used up \(429\): You exceeded your current quota\./,
    offers: ['Try again'],
  },
  'a service that is overloaded': {
    answer: () => refusal(529, '{"error":{"message":"Overloaded"}}', { 'x-should-retry': 'false' }),
    says: /\(529\): Overloaded/,
    offers: ['Try again'],
  },
  'a prompt that is too long': {
    answer: () =>
      refusal(400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`),
    says: /maximum context length is 8192 tokens/,
    offers: ['Compact and retry', 'Open settings'],
  },
  'a model that nobody knows': {
    answer: () => refusal(404, '{"error":{"message":"The model `test-model` does not exist.","code":"model_not_found"}}'),
    says: /The model `test-model` does not exist/,
    offers: ['Try again', 'Open settings'],
  },
  'a web page in place of an answer': {
    answer: () =>
      new Response('<!doctype html><html><head><title>Sign in</title></head><body><script>hacked=1</script></body></html>', {
        headers: { ...anyPage, 'content-type': 'text/html' },
      }),
    says: /returned a web page \(text\/html\)/,
    offers: ['Try again', 'Open settings'],
  },
  'an error page': {
    answer: () => new Response('<html><head><title>502 Bad Gateway</title></head><body>x</body></html>', { status: 501, headers: anyPage }),
    says: /\(501\)/,
    offers: ['Try again'],
  },
}

async function ask(page: Page, service: ModelServer): Promise<void> {
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  await say(page, words)
}

const ending = (page: Page) => page.getByTestId('ending')

for (const [name, { answer, says, offers }] of Object.entries(failing)) {
  test(`${name}: shows the provider error with advice and succeeds on retry`, async ({ page }) => {
    let isWell = false
    await using service = await serveModel(openai, () => (isWell ? { text: ['Well again.'] } : answer()))
    await ask(page, service)
    await expect(status(page)).toHaveAttribute('data-status', 'error')
    await expect(ending(page)).toContainText(says)
    expect(await ending(page).textContent()).not.toMatch(/<\/?(?:html|script|title)/)
    for (const offer of offers) await expect(ending(page).getByRole('button', { name: offer, exact: true })).toBeVisible()
    // Once: not in the message too.
    await expect(page.locator('.message-error').filter({ visible: true })).toHaveCount(0)
    await expect(page.getByTestId('message-user')).toContainText(words)
    // After a reload it is still said.
    await page.reload()
    await expect(ending(page)).toContainText(says)
    isWell = true
    await ending(page)
      .getByRole('button', { name: offers[0] ?? '', exact: true })
      .click()
    await expect(page.getByText('Well again.')).toBeVisible()
    await expect(ending(page)).toHaveCount(0)
    await expect(page.getByTestId('message-user')).toHaveCount(1)
  })
}

test('counts down a long retry delay, also after a reload, and retries on request', async ({ page }) => {
  let isWell = false
  const busy = () =>
    refusal(429, '{"error":{"message":"Slow down, please."}}', { 'retry-after': '3600', 'access-control-expose-headers': 'retry-after' })
  await using service = await serveModel(openai, () => (isWell ? { text: ['Well again.'] } : busy()))
  await ask(page, service)
  await expect(ending(page).getByTestId('wait-until')).toContainText(/asks to wait until .*: 60 min more/)
  await page.reload()
  await expect(ending(page).getByTestId('wait-until')).toContainText(/(?:60|59) min more/)
  isWell = true
  await ending(page).getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('Well again.')).toBeVisible()
})

test('shows one notice with its retries for a broken stream', main, async ({ page }) => {
  await using service = await serveModel(openai, () => streamed(piece({ role: 'assistant', content: 'Half an ans' })))
  await page.clock.install()
  await ask(page, service)
  // What is kept is open by then: the store has no time but that of this clock.
  await expect(page.getByText('Half an ans').first()).toBeVisible()
  await page.clock.runFor(60_000)
  await expect(status(page)).toHaveAttribute('data-status', 'error')
  await expect(ending(page)).toContainText('It was tried 4 times.')
  await expect(page.getByRole('alert')).toHaveCount(1)
  await expect(page.getByText('Half an ans').last()).toBeVisible()
})

test('retries from existing tool results without repeating tools', mainEverywhere, async ({ page }) => {
  let isWell = false
  await using service = await serveModel(openai, ({ toolResults }) => {
    if (toolResults.length === 0)
      return { text: ['I write.'], calls: [{ id: 'call_1', name: 'write_file', arguments: { path: 'a.txt', content: 'x' } }] }
    return isWell ? { text: ['It is written.'] } : refusal(400, '{"error":{"message":"No more of this."}}')
  })
  await ask(page, service)
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(ending(page)).toContainText('No more of this.')
  isWell = true
  await ending(page).getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('It is written.')).toBeVisible()
  await expect(page.getByTestId('tool-card')).toHaveCount(1)
  expect(service.requests).toHaveLength(3)
})

const endings: Record<string, { frames: string; word: string; says: RegExp; offers: readonly string[] }> = {
  'at its output limit': {
    frames: `${piece({ content: 'As far as' }) + piece({}, 'length')}data: [DONE]\n\n`,
    word: 'Cut off',
    says: /truncated after \d+ tokens at its output limit|truncated at its output limit/,
    offers: ['Continue', 'Open settings'],
  },
  'by a filter': {
    frames: `${piece({ content: 'I should' }) + piece({}, 'content_filter')}data: [DONE]\n\n`,
    word: 'Refused',
    says: /refused to respond/,
    offers: [],
  },
  'with a refusal of the model': {
    frames: `${piece({ refusal: 'That I will not say.' }) + piece({}, 'stop')}data: [DONE]\n\n`,
    word: 'Refused',
    says: /That I will not say\. Edit your message and rephrase it/,
    offers: [],
  },
  'without a word': {
    frames: `${piece({ role: 'assistant', content: '' }) + piece({}, 'stop')}data: [DONE]\n\n`,
    word: 'Empty',
    says: /returned no text/,
    offers: ['Try again'],
  },
}

for (const [name, { frames, word, says, offers }] of Object.entries(endings)) {
  test(`marks a response that ended ${name} as incomplete in page, footer and trace`, everywhere, async ({ page }) => {
    await using service = await serveModel(openai, () =>
      service.requests.length > 1 && offers.includes('Continue') ? { text: ['And the rest.'] } : streamed(frames),
    )
    await ask(page, service)
    await expect(status(page)).toHaveText(word)
    await expect(ending(page)).toContainText(says)
    await expect(page.getByTestId('stop-reason')).toHaveText(word)
    await expect(page.getByTestId('span').filter({ hasText: word })).toHaveCount(1)
    await expect(page.getByTestId('announcer')).toContainText(word)
    await page.reload()
    await expect(ending(page)).toContainText(says)
    for (const offer of offers) await expect(ending(page).getByRole('button', { name: offer })).toBeVisible()
    if (!offers.includes('Continue')) return
    await ending(page).getByRole('button', { name: 'Continue' }).click()
    await expect(page.getByText('And the rest.')).toBeVisible()
  })
}

const silences: Record<string, { address: (page: Page) => Promise<string>; says: RegExp }> = {
  'nobody is there': {
    async address() {
      const closed = await serveModel(openai, () => ({ text: [] }))
      await closed[Symbol.asyncDispose]()
      return closed.url
    },
    says: /No server responds at that URL/,
  },
  'the server does not let the page in': {
    async address(page) {
      const own = new URL(page.url())
      await page.route(`${own.protocol}//localhost:${own.port}/v1/**`, (route) => route.abort('failed'))
      return `${own.protocol}//localhost:${own.port}`
    },
    says: /does not allow this page to call it \(CORS\)/,
  },
  'the device is offline': {
    async address(page) {
      const url = new URL(page.url()).origin
      await page.evaluate(() => Object.defineProperty(navigator, 'onLine', { value: false }))
      await page.route(`${url}/v1/**`, (route) => route.abort('internetdisconnected'))
      return url
    },
    says: /This device is offline/,
  },
  'the page may not go there': { address: async () => 'https://models.example', says: /content security policy of this page/ },
}

for (const [name, { address, says }] of Object.entries(silences)) {
  test(`explains a missing response: ${name}`, async ({ page }) => {
    await page.goto(quickPage)
    await page.clock.install()
    await chooseLocalServer(page, { address: `${await address(page)}/v1`, model: 'test-model' })
    await say(page, words)
    // Before it is stored, five seconds without an answer of the store end the run.
    await expect(page.getByTestId('message-user')).toContainText(words)
    await expect
      .poll(async () => {
        await page.clock.runFor(5000)
        return page.getByTestId('network-cause').count()
      })
      .toBe(1)
    await expect(ending(page)).toContainText('could not be reached')
    await expect(page.getByTestId('network-cause')).toContainText(says)
    await expect(page.getByTestId('message-user')).toContainText(words)
    if (name !== 'the device is offline') return
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await expect(page.getByTestId('network-cause')).toContainText('This device was offline and is online again. Retry.')
  })
}

test('marks output that violates its schema and offers a retry or a schema edit', async ({ page }) => {
  const answers = ['{"city":7}', '{"city":"Oslo"}']
  await using service = await serveModel(openai, () => ({ text: [answers[service.requests.length - 1] ?? ''] }))
  await page.goto(quickPage)
  await page.getByTestId('model-button').click()
  await page.getByText('Local server').click()
  await page.getByRole('combobox', { name: 'Model' }).fill('test-model')
  await page.getByRole('textbox', { name: 'Address' }).fill(`${service.url}/v1`)
  await page.getByRole('tab', { name: 'Agent', exact: true }).click()
  await page
    .getByRole('textbox', { name: 'Response schema' })
    .fill('{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await say(page, words)
  await expect(status(page)).toHaveText('Schema not met')
  await expect(ending(page)).toContainText('city: expected string, got number')
  await expect(page.getByTestId('stop-reason')).toHaveText('Schema not met')
  await expect(page.getByTestId('span').filter({ hasText: 'Schema not met' })).toHaveCount(1)
  await expect(page.getByTestId('announcer')).toContainText('Schema not met')
  await page.reload()
  await expect(status(page)).toHaveText('Schema not met')
  await expect(ending(page)).toContainText('city: expected string, got number')
  await ending(page).getByRole('button', { name: 'Edit the schema' }).click()
  await expect(page.getByRole('textbox', { name: 'Response schema' })).toHaveValue(/"city"/)
  await page.keyboard.press('Escape')
  await ending(page).getByRole('button', { name: 'Try again' }).click()
  await expect(status(page)).toHaveText('Done')
  await expect(ending(page)).toHaveCount(0)
})
