import { openai } from '../../test/harness/server/openai.ts'
import { everywhere, expect, test } from '../page/browser.ts'
import { piece, streamed } from '../page/chunks.ts'
import { anyPage, serveModel } from '../page/model-server.ts'
import { chooseLocalServer, quickPage, say, status } from '../page/playground-page.ts'

/** An answer that the SDK does not ask for again by itself. */
function final(status: number, body: string, type = 'application/json'): Response {
  return new Response(body, { status, headers: { ...anyPage, 'content-type': type, 'x-should-retry': 'false' } })
}

const page = (title: string) =>
  `<!doctype html><html><head><title>${title}</title><script>hacked=1</script></head><body>${title}</body></html>`

/** What a service answers once, and what the page says of that. */
const refusals: Record<string, { answer: () => Response; says: RegExp; offers?: string }> = {
  'a setting it does not take': { answer: () => final(400, '{"error":{"message":"temperature must be below 1"}}'), says: /below 1/ },
  'a region it refuses': {
    answer: () => final(403, '{"error":{"message":"Your region is not supported."}}'),
    says: /No access.*Your region/,
  },
  'a path it does not have': { answer: () => final(404, '404 page not found', 'text/plain'), says: /404 page not found/ },
  'a prompt that is too large': {
    answer: () => final(413, '{"error":{"message":"Request too large."}}'),
    says: /Too long.*Request too large\./,
    offers: 'Compact and retry',
  },
  'a gateway that takes no such prompt': {
    answer: () => final(413, page('413 Request Entity Too Large'), 'text/html'),
    says: /413 Request Entity Too Large/,
    offers: 'Compact and retry',
  },
  'an error in plain words': { answer: () => final(500, 'Internal Server Error', 'text/plain'), says: /\(500\): Internal Server Error/ },
  'a gateway with nothing behind it': { answer: () => final(502, page('502 Bad Gateway'), 'text/html'), says: /502 Bad Gateway/ },
  'an error without a word': { answer: () => final(503, '', 'text/plain'), says: /\(503\)/ },
  'a gateway that gave up': { answer: () => final(504, page('Gateway time-out'), 'text/html'), says: /\(504\).*Gateway time-out/ },
  'too many requests, without a word': { answer: () => final(429, ''), says: /Too many requests.*\(429\)/ },
  'an error that says it is well': {
    answer: () => final(200, '{"error":{"message":"No such model here."}}'),
    says: /No such model here\./,
  },
  'another address': {
    answer: () => new Response(null, { status: 302, headers: { ...anyPage, location: '/login' } }),
    says: /redirected the request/,
  },
}

test('shows each provider error in its conversation and succeeds on retry', async ({ page }) => {
  let answer: (() => Response) | undefined
  await using service = await serveModel(openai, () => answer?.() ?? { text: ['Well again.'] })
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  const ending = page.getByTestId('ending')
  for (const [name, refusal] of Object.entries(refusals)) {
    await test.step(name, async () => {
      await page.getByRole('button', { name: 'New', exact: true }).click()
      answer = refusal.answer
      await say(page, name)
      await expect(ending).toContainText(refusal.says)
      expect(await ending.innerText()).not.toMatch(/<\/?\w+>|hacked/)
      await expect(status(page)).toHaveAttribute('data-status', 'error')
      await expect(page.getByTestId('message-user')).toContainText(name)
      answer = undefined
      await ending.getByRole('button', { name: refusal.offers ?? 'Try again', exact: true }).click()
      await expect(page.getByText('Well again.')).toBeVisible()
      await expect(ending).toHaveCount(0)
      await expect(page.getByTestId('message-user')).toContainText(name)
    })
  }
  expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
})

/** Streams that end where they should not: they are asked for again at once, and what was seen stays. */
const breaks: Record<string, { answer: () => Response; keeps?: string }> = {
  'nothing at all': { answer: () => streamed('') },
  'no JSON': { answer: () => streamed('data: {not json}\n\n') },
  'no more than a sign of life': { answer: () => streamed(': ping\n\n') },
  'an end without an end': { answer: () => streamed(piece({ content: 'Some of it' })), keeps: 'Some of it' },
  'an error in mid-sentence': {
    answer: () => streamed(`${piece({ content: 'As far as this' })}data: {"error":{"message":"Overloaded now","type":"server_error"}}\n\n`),
    keeps: 'As far as this',
  },
  'bytes of something else': {
    answer: () => new Response(new Uint8Array([0, 255, 3, 200]), { headers: { ...anyPage, 'content-type': 'application/octet-stream' } }),
  },
}

test('retries a broken stream with a notice and keeps its text until then', everywhere, async ({ page }) => {
  let breaking: (() => Response) | undefined
  let isSeen = Promise.resolve()
  await using service = await serveModel(openai, async () => {
    const answer = breaking
    breaking = undefined
    if (answer !== undefined) return answer()
    await isSeen
    return { text: ['Well again.'] }
  })
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  for (const [name, { answer, keeps }] of Object.entries(breaks)) {
    await test.step(name, async () => {
      await page.getByRole('button', { name: 'New', exact: true }).click()
      breaking = answer
      let see = () => {}
      isSeen = new Promise((resolve) => {
        see = resolve
      })
      await say(page, name)
      await expect(page.getByTestId('retry')).toContainText('Retry 1 of 3')
      if (keeps !== undefined) await expect(page.getByText(keeps).first()).toBeVisible()
      see()
      await expect(page.getByText('Well again.')).toBeVisible()
      await expect(status(page)).toHaveAttribute('data-status', 'completed')
      if (keeps !== undefined) await expect(page.getByTestId('message-assistant').getByText(keeps)).toHaveCount(0)
      await expect(page.getByTestId('message-user')).toContainText(name)
    })
  }
})

test('shows how long it waits for a silent provider and how to stop', async ({ page }) => {
  await using service = await serveModel(openai, () => streamed('', true))
  await page.clock.install()
  await page.goto(quickPage)
  await chooseLocalServer(page, { address: `${service.url}/v1`, model: 'test-model' })
  await say(page, 'Are you there?')
  const waiting = page.getByTestId('waiting')
  await expect(waiting).toContainText('Waiting for the model…')
  await expect.poll(() => service.requests.length).toBe(1)
  await page.clock.runFor(90_000)
  await page.clock.resume()
  await expect(waiting).toContainText('Waiting for the model for 1 min')
  await waiting.getByRole('button', { name: 'Stop' }).click()
  await expect(status(page)).toHaveAttribute('data-status', 'aborted')
  await expect(page.getByTestId('message-user')).toContainText('Are you there?')
  await expect(page.getByTestId('ending').getByRole('button', { name: 'Continue' })).toBeVisible()
})
