import { expect, it, vi } from 'vitest'
import { answerWithSources } from '../../examples/recipes/content/citations.ts'
import { describePicture } from '../../examples/recipes/content/files-by-address.ts'
import { drawAndChange } from '../../examples/recipes/content/media.ts'
import { askAbout } from '../../examples/recipes/content/refused-files.ts'
import { askAboutReport } from '../../examples/recipes/content/upload-file.ts'
import { costSoFar, readerOfBooks } from '../../examples/recipes/context/long-prompts.ts'
import { cheapestWithEyes, thrifty } from '../../examples/recipes/models/model-catalogue.ts'
import { reliable } from '../../examples/recipes/models/models-of-models.ts'
import { isSpam, watchPlan } from '../../examples/recipes/models/partial-objects.ts'
import { showOutput } from '../../examples/recipes/models/partial-objects-page.ts'
import { define } from '../../examples/recipes/models/request-settings.ts'
import { withManyTools } from '../../examples/recipes/tools/tool-search.ts'
import { Agent } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'
import { add } from '../support/play.ts'

it("numbers a response's citations and lists the sources", async () => {
  const page = (start: number) => ({ title: 'report.pdf', document: { index: 0, unit: 'page' as const, start, end: start + 1 } })
  const model = scripted([{ text: 'Revenue rose.', citations: [page(3), page(5), page(3)] }])
  const { text, sources } = await answerWithSources(model, new Blob(['%PDF-1.7 x'], { type: 'application/pdf' }), 'And?')
  expect(text).toBe('Revenue rose.[1][2]')
  expect(sources).toEqual(['report.pdf, page 3', 'report.pdf, page 5'])
  expect(model.provider.requests[0]?.messages[0]).toMatchObject({ content: [{ type: 'file', citations: true }, { type: 'text' }] })
})

it('edits a generated image in a second request', async () => {
  const red = {
    type: 'image' as const,
    mimeType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  }
  const green = { ...red, data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgaGAAAAEEAIFw9selAAAAAElFTkSuQmCC' }
  const model = scripted([{ blocks: [red] }, { blocks: [green] }])
  expect(await drawAndChange(model, 'A red dot.', 'Now green.')).toEqual([red, green])
  expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain(red.data)
})

it('sends image URLs to a provider that fetches them and blocks unlisted hosts', async () => {
  const url = 'https://a.example/a.png'
  expect(await describePicture(scripted([{ text: 'A dot.' }]), url, ['files.example.com'])).toBe('A dot.')
  const model = google('gemini-2.0-flash', { apiKey: 'k', fetch: () => Promise.reject(new Error('was asked')) })
  await expect(describePicture(model, url, ['files.example.com'])).rejects.toMatchObject({
    code: 'unsupportedMedia',
    message: expect.stringContaining('a.example is not listed in hosts'),
  })
})

it('forces a tool call before the response', async () => {
  const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'Three.' }])
  expect(await define(model, [add], 'three')).toBe('Three.')
  expect(model.provider.requests.map(({ toolChoice, seed }) => [toolChoice, seed])).toEqual([
    ['required', 7],
    ['auto', 7],
  ])
})

it('uploads a report once and references its id in each question', async () => {
  const bodies: string[] = []
  const answer = [
    { type: 'message_start', message: { id: 'm', model: 'claude-sonnet-5', content: [], usage: {} } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Yes.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  const service: typeof fetch = async (input, init) => {
    if (String(input).endsWith('/v1/files')) return Response.json({ id: 'file_1', expires_at: '2099-01-01T00:00:00Z' })
    bodies.push(String(init?.body))
    const events = answer.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
  }
  const model = anthropic('claude-sonnet-5', { apiKey: 'k', fetch: service })
  const report = new Blob(['%PDF-1.7 x'], { type: 'application/pdf' })
  expect(await askAboutReport(model, report, ['Rose it?', 'Sure?'])).toEqual(['Yes.', 'Yes.'])
  expect(bodies.map((body) => body.split('"file_id":"file_1"').length - 1)).toEqual([1, 1])
})

it('lists files that exceed a limit or were rejected by the provider', async () => {
  let refusals = 0
  const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'No idea.' }] }, finishReason: 'STOP' }] }
  const service: typeof fetch = async (_input, init) => {
    if (!String(init?.body).includes('application/pdf","data"')) return new Response(`data: ${JSON.stringify(answer)}\n\n`)
    refusals += 1
    return Response.json({ error: { code: 400, message: 'The document has no pages.', status: 'INVALID_ARGUMENT' } }, { status: 400 })
  }
  const model = google('gemini-2.0-flash', { apiKey: 'k', fetch: service })
  const document = (text: string) => new Blob([text], { type: 'application/pdf' })
  const empty = await askAbout(model, document('%PDF-1.7 x'), 'And?')
  expect(empty).toEqual({ answer: 'No idea.', unread: [expect.stringContaining('The document has no pages')] })
  const long = await askAbout(model, document(`%PDF-1.7 ${'<< /Type /Page >> '.repeat(1001)}`), 'And?')
  expect(long).toEqual({ answer: '', unread: [expect.stringMatching(/1001 pages.*accepts 1000/)] })
  expect(refusals).toBe(1)
})

it('routes short questions to a small model and falls back to another provider', async () => {
  const down = { fail: { code: 'api' as const, message: 'The service is down.' } }
  const [small, large, elsewhere] = [
    scripted([{ text: 'Small.' }, down]),
    scripted([{ text: 'Large.' }]),
    scripted([{ text: 'Elsewhere.' }]),
  ]
  const agent = reliable({ small, large, elsewhere, keys: ['k-1', 'k-2'] })
  expect(await agent.prompt('Hi.').text()).toBe('Small.')
  expect(await agent.prompt('And?').text()).toBe('Elsewhere.')
  expect(
    await reliable({ small, large, elsewhere, keys: ['k-1', 'k-2'] })
      .prompt('Long. '.repeat(500))
      .text(),
  ).toBe('Large.')
})

it('prints a plan during streaming and parses an enum response', async () => {
  const plan = {
    title: 'Tea',
    steps: [
      { task: 'Boil', hours: 1 },
      { task: 'Wait', hours: 2 },
    ],
  }
  const lines: string[] = []
  expect(await watchPlan(scripted([{ text: JSON.stringify(plan) }]), 'tea', (line) => lines.push(line))).toBe(3)
  expect(lines).toContain('# Tea')
  expect(lines.slice(-2)).toEqual(['- Boil: 1 h', '- Wait: 2 h'])
  expect(await isSpam(scripted([{ text: '{"value":"spam"}' }]), 'Buy!')).toBe(true)
})

it('shows structured output during streaming', async () => {
  const model = scripted([{ text: ['{"value": ["A', 'nn", "Bo', 'b"]}'] }])
  const agent = new Agent({ model, responseFormat: { type: 'array', items: { type: 'string' } } })
  const shown: unknown[] = []
  const stop = showOutput(agent, (output) => shown.push(output))
  const run = agent.prompt('Who?')
  await run.result
  await vi.waitFor(() => expect(shown.at(-1)).toEqual(['Ann', 'Bob']), patient)
  stop()
})

it('searches many tools and calls the one found', async () => {
  const script = [
    { toolCalls: [{ name: 'search_tools', arguments: { query: 'add two numbers' } }] },
    { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
    { text: 'Three.' },
  ]
  const model = scripted(script)
  expect(await withManyTools(model, [add]).prompt('1 + 2?').text()).toBe('Three.')
  expect(model.provider.requests.map(({ tools }) => tools.length)).toEqual([2, 3, 3])
})

it('adds up the cost of responses, including long-prompt rates', async () => {
  const { config } = readerOfBooks('k')
  const answers = [150_000, 150_000, 200_001].map((input) => ({ text: 'Read.', usage: { input, output: 1000 } }))
  const agent = new Agent({ model: scripted(answers, { config: { cost: config.cost } }) })
  for (const part of ['One.', 'Two.', 'Three.']) await agent.prompt(part).result
  expect(costSoFar(agent)).toBeCloseTo(2 * (0.45 + 0.015) + 1.200006 + 0.0225, 9)
})

it('reads prices and finds a cheap vision model in the catalog', () => {
  expect(thrifty('k').settings.model.config.cost.outputPerMillion).toBeGreaterThan(0)
  expect(cheapestWithEyes('anthropic')).toMatch(/^claude-/)
})
