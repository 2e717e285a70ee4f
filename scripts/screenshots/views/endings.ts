import type { Page } from 'playwright'
import { frame, openStreamOf, refusal, streamOf, useService } from '../services.ts'
import { click, ends, finish, play, press, say, settings, settle, tab, until, useLocalServer } from '../steps.ts'
import type { View } from '../view.ts'

const done = 'data: [DONE]\n\n'
const drift = 'The ice drifts south at four miles a day. At this rate we reach open water by the end of'

/** Answers that are no whole ones, each as a service sends it. */
const answers: Readonly<Record<string, () => Response>> = {
  'cut-off': () => streamOf(frame({ role: 'assistant', content: drift }) + frame({}, 'length') + done),
  filtered: () => streamOf(frame({ role: 'assistant', content: 'I should' }) + frame({}, 'content_filter') + done),
  refused: () => streamOf(frame({ role: 'assistant', refusal: 'I will not write that.' }) + frame({}, 'stop') + done),
  empty: () => streamOf(frame({ role: 'assistant', content: '' }) + frame({}, 'stop') + done),
}

const error = (message: string, code?: string) => JSON.stringify({ error: { message, code } })
const tooLong =
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 11402 tokens. Please reduce the length of the messages."

/** Refusals, each in the words of a service. */
const refusals: Readonly<Record<string, () => Response>> = {
  'key-refused': () => refusal(401, error('Incorrect API key provided.', 'invalid_api_key')),
  'rate-limit': () => refusal(429, error('Rate limit reached for requests per min. Limit: 3, used: 3.')),
  quota: () => refusal(429, error('You exceeded your current quota, please check your plan and billing details.', 'insufficient_quota')),
  overloaded: () => refusal(529, error('Overloaded')),
  'prompt-too-long': () => refusal(400, error(tooLong, 'context_length_exceeded')),
  'unknown-model': () => refusal(404, error('The model `llama-3.3` does not exist or you do not have access to it.', 'model_not_found')),
  'web-page-instead': () =>
    refusal(200, '<!doctype html><html><head><title>Sign in</title></head><body>Sign in</body></html>', { 'content-type': 'text/html' }),
  'gateway-page': () =>
    refusal(502, '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>', { 'content-type': 'text/html' }),
  'wait-with-clock': () => refusal(429, error('Slow down, please.'), { 'retry-after': '1500', 'x-should-retry': 'true' }),
}

const asked = (name: string, answer: () => Response): View => ({
  name,
  async make(page, made) {
    await useService(page, made, answer)
    await say(page, 'How far do we drift until the ice opens?')
    await ends(page, 500)
  },
})

/** A server that nothing comes back from, and what the page finds out about it. */
const silences: Readonly<Record<string, (page: Page) => Promise<string>>> = {
  'nobody-there': async () => 'http://127.0.0.1:9',
  'no-cors': async (page) => {
    const own = new URL(page.url())
    await page.route(`${own.protocol}//localhost:${own.port}/v1/**`, (route) => route.abort('failed'))
    return `${own.protocol}//localhost:${own.port}`
  },
  'forbidden-by-policy': async () => 'https://models.example',
  'device-offline': async (page) => {
    await page.evaluate(() => Object.defineProperty(navigator, 'onLine', { value: false }))
    await page.route('**/v1/**', (route) => route.abort('internetdisconnected'))
    return new URL(page.url()).origin
  },
}

/** Why an answer ended, where it is no whole one, and what failed on the way. */
export const endings: readonly View[] = [
  ...Object.entries({ ...answers, ...refusals }).map(([name, answer]) => asked(name, answer)),
  ...Object.entries(silences).map(([name, address]) => ({
    name,
    async make(page: Page) {
      await useLocalServer(page, `${await address(page)}/v1`)
      await say(page, 'Are you there?')
      await until(page, '[data-testid=network-cause]', 500)
    },
  })),
  {
    name: 'cut-stream-retry',
    async make(page, made) {
      await useService(page, made, () => streamOf(frame({ role: 'assistant', content: drift })))
      await say(page, 'How far do we drift until the ice opens?')
      await until(page, '[data-testid=retry]')
    },
  },
  {
    name: 'cut-stream',
    async make(page, made) {
      await useService(page, made, () => streamOf(frame({ role: 'assistant', content: drift })))
      await say(page, 'How far do we drift until the ice opens?')
      await ends(page, 500)
    },
  },
  {
    name: 'cut-off-trace',
    pane: 'inspector',
    make: (page, made) => asked('', answers['cut-off'] ?? fail).make(page, made),
  },
  {
    name: 'continued',
    async make(page, made) {
      const { requests } = await useService(page, made, () =>
        requests.length === 1 ? (answers['cut-off'] ?? fail)() : { text: [' the month,', ' if the wind holds.'] },
      )
      await say(page, 'How far do we drift until the ice opens?')
      await until(page, '[data-testid=ending]')
      await press(page, 'Continue')
      await until(page, '.message:has-text("if the wind holds")')
      await settle(page)
    },
  },
  {
    name: 'limit-of-turns',
    async make(page) {
      await settings(page)
      await tab(page, 'Agent')
      await page.getByLabel('Most turns').fill('1')
      await press(page, 'Apply')
      await play(page, 'Thinking and tools', '[data-testid=ending]')
      await settle(page)
    },
  },
  {
    name: 'silent-service',
    async make(page, made) {
      const { requests } = await useService(page, made, () => openStreamOf(''))
      await say(page, 'Are you there?')
      while (requests.length === 0) await page.clock.runFor(50)
      await page.clock.runFor(90_000)
    },
  },
  {
    name: 'schema-not-met',
    async make(page, made) {
      await useService(page, made, () => ({ text: ['It drifts ', 'south.'] }))
      await settings(page)
      await tab(page, 'Agent')
      await page.getByLabel('Schema of the answer').fill('{"type":"object","properties":{"miles":{"type":"number"}},"required":["miles"]}')
      await press(page, 'Apply')
      await say(page, 'How far do we drift?')
      await ends(page, 500)
    },
  },
  {
    name: 'error-opened-again',
    async make(page, made) {
      await asked('', refusals['rate-limit'] ?? fail).make(page, made)
      await page.reload()
      await until(page, '[data-testid=ending]')
      await settle(page)
    },
  },
  {
    name: 'answer-while-others-run',
    async make(page) {
      await play(page, '500 turns', '[data-testid=tool-card] >> nth=2')
      await click(page.getByRole('button', { name: 'New', exact: true }))
      await finish(page, 'Thinking and tools')
    },
  },
]

function fail(): never {
  throw new Error('There is no such answer.')
}
