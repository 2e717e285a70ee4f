// npm run bench ui [-- filter]: CPU time of each encoder for the events of one run, as a ratio to `JSON.stringify` of what it writes, in the same run.

import { eventDecoder, eventEncoder } from '../../src/client.ts'
import { emptyUsage } from '../../src/context.ts'
import type { AgentEvent, AgentMessage, Content } from '../../src/index.ts'
import { asEmitted } from '../../src/internal.ts'
import { agUiEncoder, agUiSse } from '../../src/ui/ag-ui.ts'
import { uiMessageEncoder, uiMessageSse } from '../../src/ui/ai-sdk.ts'

const samples = 21
const warmUpMs = 500
const deltas = 20_000
const words = ['the ', 'rain', ' in ', 'Oslo', ', as ', 'ever', ';\n', 'naïve ', '"quoted" ', '雨 ']
const id = '0b5e0a0a-7d1c-4b6e-9b60-3b6a1b6f0a11'
const base = { runId: id, sessionId: id, loopId: `${id}.claude-sonnet-4-6.anthropic.1` }
const answer = { role: 'assistant', model: 'm', provider: 'p', usage: emptyUsage(), stopReason: 'stop', timestamp: 1, id } as const
const saying = (content: Content[]): AgentMessage => ({ ...answer, content })

/** The events of a long answer. */
function run(): AgentEvent[] {
  const pieces = Array.from({ length: deltas }, (_, index) => `${words[index % words.length]}${index % 97}`)
  const bodies = [
    { type: 'messageStart', messageId: id, message: saying([]) } as const,
    ...pieces.map((delta) => ({ type: 'messageUpdate', messageId: id, delta: { type: 'text', contentIndex: 0, delta } }) as const),
    { type: 'messageEnd', messageId: id, message: saying([{ type: 'text', text: pieces.join('') }]) } as const,
  ]
  return bodies.map((body, index) => ({ ...body, ...base, seq: index + 1, at: 1_795_350_497_000 + Math.floor(index / 3) }))
}

/** Makes for each event what is written, as values; and how they are written. */
interface Row {
  name: string
  write: (events: readonly AgentEvent[]) => string[]
  /** The same values, for the side that only writes them. */
  values: (events: readonly AgentEvent[]) => unknown[]
}

const parsed = (frames: readonly string[]): unknown[] =>
  frames
    .flatMap((text) => text.split('\n\n'))
    .flatMap((frame) => (frame === '' ? [] : [JSON.parse(frame.slice(frame.indexOf('data: ') + 6))]))
const lean = (events: readonly AgentEvent[]) => {
  const encoder = eventEncoder()
  return events.map((event) => encoder.sse(event))
}
const aiSdk = (events: readonly AgentEvent[]) => {
  const encoder = uiMessageEncoder()
  return events.map((event) => encoder.encode(event).map(uiMessageSse).join(''))
}
const agUi = (events: readonly AgentEvent[]) => {
  const encoder = agUiEncoder()
  return events.map((event) => encoder.encode(event).map(agUiSse).join(''))
}
const rows: Row[] = [
  {
    name: 'whole events',
    write: (events) => events.map((event) => `id: ${event.seq}\ndata: ${JSON.stringify(asEmitted(event))}\n\n`),
    values: (events) => [...events],
  },
  { name: 'native, lean', write: lean, values: (events) => parsed(lean(events)) },
  { name: 'AI SDK', write: aiSdk, values: (events) => parsed(aiSdk(events)) },
  { name: 'AG-UI', write: agUi, values: (events) => parsed(agUi(events)) },
]

function cpuMs(work: () => unknown): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0

/** Ratio of `own` to `bare`, by turns, once both are compiled. */
function compare(own: () => unknown, bare: () => unknown) {
  for (const side of [own, bare]) for (let spent = 0; spent < warmUpMs; ) spent += cpuMs(side)
  const ratios: number[] = []
  const times: number[] = []
  let before = cpuMs(bare)
  for (let n = 0; n < samples; n += 1) {
    const ms = cpuMs(own)
    const after = cpuMs(bare)
    ratios.push(ms / ((before + after) / 2))
    times.push(ms)
    before = after
  }
  return { ratio: median(ratios).toFixed(2), 'µs per event': ((median(times) * 1000) / deltas).toFixed(2) }
}

const events = run()
const filter = process.argv[2] ?? ''
const results = rows
  .filter(({ name }) => name.includes(filter))
  .map(({ name, write, values }) => {
    const written = values(events)
    const bytes = write(events)
      .slice(2, -1)
      .reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const bare = () => written.map((value) => `data: ${JSON.stringify(value)}\n\n`)
    return { encoder: name, ...compare(() => write(events), bare), 'bytes per delta': (bytes / (deltas - 1)).toFixed(0) }
  })
console.table(results)

const encoder = eventEncoder()
const sent = events.map((event) => ({ id: String(event.seq), json: encoder.encode(event) }))
const decode = () => {
  const decoder = eventDecoder()
  return sent.map(({ id: cursor, json }) => decoder.decode(json, cursor))
}
console.table([{ decoder: 'native, lean', ...compare(decode, () => sent.map(({ json }): unknown => JSON.parse(json))) }])
