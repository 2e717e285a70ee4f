import { expect, it } from 'vitest'
import { createOpenAiApp } from '../../adapters/http/index.ts'
import { eventDecoder, eventEncoder } from '../../src/client.ts'
import { Agent, type AgentEvent, type AgentMessage, type Model } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { allMessages, createStore } from '../../src/store.ts'
import { agUiEncoder, toAgUiMessages } from '../../src/ui/ag-ui.ts'
import { toUiMessages, uiMessageEncoder } from '../../src/ui/ai-sdk.ts'
import { plainRequest, sentBody } from '../providers/model-call.ts'

const words = "I can't help with that."

/** A model that refuses, in pieces. */
function refusing(): Model {
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: null, refusal: '' } }] },
    { choices: [{ index: 0, delta: { refusal: words.slice(0, 8) } }] },
    { choices: [{ index: 0, delta: { refusal: words.slice(8) } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
  const headers = { 'content-type': 'text/event-stream' }
  return openai('gpt-5.1', { apiKey: 'key', fetch: async () => new Response(body, { headers }) })
}

/** How often the words are in `value`. */
const timesIn = (value: unknown): number => JSON.stringify(value).split(words).length - 1

async function refused(): Promise<{ agent: Agent; events: AgentEvent[]; text: string; streamed: string }> {
  const agent = new Agent({ model: refusing() })
  const run = agent.prompt('Do it.')
  const events: AgentEvent[] = []
  run.subscribe((event) => events.push(structuredClone(event)))
  let streamed = ''
  for await (const piece of run.textStream) streamed += piece
  return { agent, events, text: (await run.result).text, streamed }
}

it('stores a refusal once in the message, and returns it as text', async () => {
  const { agent, text, streamed } = await refused()
  expect(agent.messages.at(-1)).toMatchObject({ content: [], refusal: words, stopReason: 'guardRail' })
  expect([text, streamed]).toEqual([words, words])
})

it('shows a refusal once in store, useChat and AG-UI, live and after a reload', async () => {
  const { agent, events } = await refused()
  const again = new Agent({ model: refusing() })
  const store = createStore(again)
  await again.prompt('Do it.').result
  const uiEncoder = uiMessageEncoder()
  const agEncoder = agUiEncoder()
  const uiText = events.flatMap((event) => uiEncoder.encode(event)).flatMap((chunk) => (chunk.type === 'text-delta' ? chunk.delta : []))
  const agText = events
    .flatMap((event) => agEncoder.encode(event))
    .flatMap((each) => (each.type === 'TEXT_MESSAGE_CONTENT' ? each.delta : []))
  expect([uiText.join(''), agText.join('')]).toEqual([words, words])
  const views = [allMessages(store.getSnapshot()).map(({ blocks }) => blocks), toUiMessages(agent.messages), toAgUiMessages(agent.messages)]
  expect(views.map(timesIn)).toEqual([1, 1, 1])
  store.close()
})

it('preserves a refusal in the native encoding', async () => {
  const { events } = await refused()
  const [encoder, decoder] = [eventEncoder(), eventDecoder()]
  const deltas = (all: AgentEvent[]) => all.filter(({ type }) => type === 'messageUpdate' || type === 'messageEnd')
  expect(deltas(events.map((event) => decoder.decode(encoder.encode(event))))).toEqual(deltas(events))
})

it.each([true, false])('sends a refusal without content to OpenAI clients (stream: %s)', async (stream) => {
  const app = createOpenAiApp({ agents: { helper: () => new Agent({ model: refusing() }) }, authorize: () => true })
  const body = JSON.stringify({ model: 'helper', messages: [{ role: 'user', content: 'Do it.' }], stream })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const answer = await app.request('/v1/chat/completions', init)
  const said = await answer.text()
  expect([answer.status, said.includes(`"refusal":"${words}"`), said.split(words.slice(8)).length - 1]).toEqual([200, true, 1])
})

it('sends a refusal back as such to OpenAI, and as text to other providers', async () => {
  const { agent } = await refused()
  const messages = agent.messages.filter((message): message is Exclude<AgentMessage, { role: 'extension' }> => message.role !== 'extension')
  const sent = async ({ provider, config }: Model) => JSON.stringify(await sentBody(provider, plainRequest(config, { messages })))
  expect(await sent(refusing())).toContain(`{"role":"assistant","content":[{"type":"refusal","refusal":"${words}"}]}`)
  expect(timesIn(JSON.parse(await sent(anthropic('claude-sonnet-5', { apiKey: 'k' }))))).toBe(1)
})
