// npm run bench turns: what a turn costs as a conversation grows, and what it costs to record it; in this process, warmed up.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Agent, type AgentMessage, memorySessionStore, resumeAgent, type SessionStore } from 'phi-core'
import { emptyUsage } from 'phi-core/context'
import { fileSessionStore } from 'phi-core/node'
import { traceLoops } from 'phi-core/otel'
import { anthropic } from 'phi-core/providers/anthropic'
import { scripted } from 'phi-core/testing'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'
import { run } from './contender.mjs'
import { type Scenario, turnsWithTool } from './scenarios.ts'
import { cpuOf, once, quantile, type Side } from './task.ts'

const warmUpMs = 3000
setFlagsFromString('--expose-gc')
const collect: (options: { type: 'minor' }) => void = runInNewContext('gc')
const agent: Side = run
type Row = [what: string, measured: string, goal: string, isMet: boolean]

async function warmUp(work: () => Promise<unknown>): Promise<void> {
  for (let spent = 0; spent < warmUpMs; ) spent += await cpuOf(work)
}

/** µs per turn around each of `turns`: the fastest of all runs for each turn, then the median of ten turns. */
async function microsecondsAt(scenario: Scenario, turns: readonly number[], runs = 25): Promise<number[]> {
  await warmUp(() => once(scenario, agent))
  const fastest: number[] = []
  for (let n = 0; n < runs; n += 1) {
    const times: number[] = []
    await once(scenario, agent, () => times.push(performance.now()))
    for (const [turn, time] of times.slice(1).entries()) fastest[turn] = Math.min(fastest[turn] ?? Infinity, time - (times[turn] ?? 0))
  }
  return turns.map((turn) => 1000 * quantile(fastest.slice(Math.max(0, turn - 10), turn)))
}

async function growth(): Promise<Row> {
  const [early = 0, late = 0] = await microsecondsAt(turnsWithTool('anthropic', 200), [10, 200])
  return ['turn 10 → turn 200', `${early.toFixed(0)} → ${late.toFixed(0)} µs`, '+ 30 µs', late - early <= 30]
}

async function repeatedIds(): Promise<Row> {
  const [distinct = 0] = await microsecondsAt(turnsWithTool('openai', 400), [400], 9)
  const [repeated = 0] = await microsecondsAt(turnsWithTool('openai', 400, 'call_0'), [400], 9)
  const measured = `${(repeated / distinct).toFixed(2)} (${repeated.toFixed(0)} to ${distinct.toFixed(0)} µs)`
  return ['turn 400 with one call id for all, to distinct ids', measured, '≤ 2', repeated <= 2 * distinct]
}

async function recording(): Promise<Row> {
  const scenario = turnsWithTool('anthropic', 200)
  let session = memorySessionStore()
  const recorded: Side = (task) => {
    session = memorySessionStore()
    return agent({ ...task, agentOptions: { session } })
  }
  await warmUp(async () => {
    await once(scenario, agent)
    await once(scenario, recorded)
  })
  const ratio = await ratioOf(scenario, recorded, 60)
  const [id = ''] = await session.listIds()
  const results = (await session.tail(id)).records.filter(({ entry }) => entry.type === 'toolResult').length
  if (results !== 200) throw new Error(`${results} tool results were recorded instead of 200.`)
  return ['200 turns recorded in memory, to none', ratio.toFixed(2), '≤ 1.2', ratio <= 1.2]
}

/**
 * CPU of `side` to that of a plain agent, in changing order. Young objects are collected before each run: without that, collections fall in step
 * with the order, and a plain agent took 0.73 of itself.
 */
async function ratioOf(scenario: Scenario, side: Side, pairs = 150): Promise<number> {
  const times: { plain: number[]; own: number[] } = { plain: [], own: [] }
  const run = async (name: 'plain' | 'own', of: Side): Promise<void> => {
    collect({ type: 'minor' })
    times[name].push(await cpuOf(() => once(scenario, of)))
  }
  for (let n = 0; n < pairs; n += 1) {
    if (n % 2 === 0) await run('plain', agent)
    await run('own', side)
    if (n % 2 === 1) await run('plain', agent)
  }
  return quantile(times.own) / quantile(times.plain)
}

/** An agent that is traced with a tracer that does nothing, to one that is not; and that one to itself, which says how far to trust the figure. */
async function tracing(): Promise<Row> {
  const scenario = turnsWithTool('anthropic', 200)
  const traced: Side = (task) => agent({ ...task, agentOptions: { observers: [traceLoops()] } })
  await warmUp(async () => {
    await once(scenario, agent)
    await once(scenario, traced)
  })
  const [own, control] = [await ratioOf(scenario, traced), await ratioOf(scenario, agent)]
  const measured = `${own.toFixed(2)} (an untraced one to itself ${control.toFixed(2)})`
  return ['200 turns traced with a no-op tracer, to none', measured, '≤ 1.1', own <= 1.1]
}

function history(length: number): AgentMessage[] {
  const base = { timestamp: 1, turnId: { loopId: 'old', turnIndex: 0 } }
  return Array.from({ length: length / 2 }, (_, n): AgentMessage[] => [
    { ...base, id: `q${n}`, role: 'user', content: [{ type: 'text', text: `Question ${n}: what is the weather in Oslo?` }] },
    {
      ...base,
      id: `a${n}`,
      role: 'assistant',
      content: [{ type: 'text', text: `Answer ${n}: rain, as ever, with a little "sun" in between.` }],
      stopReason: 'stop',
      model: 'm',
      provider: 'p',
      usage: emptyUsage(),
    },
  ]).flat()
}

/** One more prompt to an agent with a long history; the first one encodes it all. */
async function longHistory(): Promise<Row> {
  const body = turnsWithTool('anthropic', 0)
    .responses[0]?.map((chunk) => new TextDecoder().decode(chunk))
    .join('')
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const model = anthropic('claude-sonnet-4-6', { apiKey: 'key', fetch })
  const make = () => new Agent({ model, messages: history(5000), contextManagement: false })
  const times: number[] = []
  const firsts: number[] = []
  for (let n = 0; n < 5; n += 1) {
    const long = make()
    for (let prompt = 0; prompt < 40; prompt += 1) {
      const start = performance.now()
      await long.prompt('And now?').result
      ;(prompt === 0 ? firsts : times).push(performance.now() - start)
    }
  }
  const measured = `${quantile(times.slice(-80)).toFixed(2)} ms (the first ${quantile(firsts).toFixed(0)} ms)`
  return ['a prompt on 5,000 messages', measured, '≤ 4 ms', quantile(times.slice(-80)) <= 4]
}

/** A request behind 20 MB of pictures that were sent before, encoded, to one copy of its body: what sending it takes at least. */
async function behindMedia(): Promise<Row> {
  const { config, provider } = anthropic('claude-sonnet-4-6', { apiKey: 'key' })
  const data = Buffer.alloc(2 * 1024 * 1024, 'x').toString('base64')
  const messages = history(20).map((message, at): AgentMessage => {
    if (message.role !== 'user') return message
    return {
      ...message,
      content: [{ type: 'image', mimeType: 'image/png', data: `${data.slice(0, -4)}AA${at % 10}=` }, ...message.content],
    }
  })
  const times: { encoded: number[]; copied: number[] } = { encoded: [], copied: [] }
  for (let n = 0; n < 40; n += 1) {
    messages.push(...history(2))
    const asked = messages.filter((message) => message.role !== 'extension').slice(0, -1)
    const start = performance.now()
    const { body } = await provider.encode({
      ...{ model: config, systemPrompt: 'Look.', messages: asked, tools: [], thinking: 'off', cache: { type: 'auto' } },
    })
    // Flat only once it is looked into.
    body.charCodeAt(body.length - 1)
    const between = performance.now()
    const copy = `${body} `
    copy.charCodeAt(body.length)
    times.encoded.push(between - start)
    times.copied.push(performance.now() - between)
  }
  const [encoded, copied] = [quantile(times.encoded.slice(10)), quantile(times.copied.slice(10))]
  const measured = `${(encoded / copied).toFixed(2)} (${encoded.toFixed(1)} to ${copied.toFixed(1)} ms)`
  return ['a request behind 20 MB of pictures, to a copy of its body', measured, '≤ 2', encoded <= 2 * copied]
}

async function resumed(name: string, store: SessionStore): Promise<Row> {
  const writer = await store.open('long', { agentId: 'bench' })
  const records = history(20_000).map((message): NewSessionRecord => {
    return { loopId: 'old', turnIndex: 0, entry: { type: message.role === 'user' ? 'input' : 'assistant', message } }
  })
  await writer.append(records)
  await writer.close()
  const times: number[] = []
  for (let n = 0; n < 5; n += 1) {
    const start = performance.now()
    const { messages } = await resumeAgent(store, 'long', { model: scripted([]) })
    times.push(performance.now() - start)
    if (messages.length !== 20_000) throw new Error(`${messages.length} messages instead of 20,000`)
  }
  const ms = quantile(times)
  return [`resume of 20,000 messages, ${name}`, `${(ms / 1000).toFixed(2)} s`, '≤ 0.3 s', ms <= 300]
}

async function resumedFromFiles(): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'phi-bench-'))
  try {
    return await resumed('files', fileSessionStore(directory))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** 31 calls over HTTP/1.1, with the platform's own fetch. */
async function connections(): Promise<Row> {
  const scenario = turnsWithTool('anthropic', 30)
  let requests = 0
  let sockets = 0
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of scenario.responses[requests++] ?? []) response.write(chunk)
    response.end()
  }).on('connection', () => {
    sockets += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // listens on a port, so not a path
  try {
    await once(
      scenario,
      (task) => agent({ ...task, baseURL, fetch: globalThis.fetch }),
      undefined,
      () => requests,
    )
  } finally {
    server.close()
    server.closeAllConnections()
  }
  return ['connections for 30 turns', String(sockets), '≤ 2', sockets <= 2]
}

const measures = {
  growth,
  repeatedIds,
  recording,
  tracing,
  longHistory,
  behindMedia,
  resumed: () => resumed('memory', memorySessionStore()),
  resumedFromFiles,
  connections,
}
const rows: object[] = []
for (const [name, measure] of Object.entries(measures)) {
  if (!name.includes(process.argv[2] ?? '')) continue
  const [what, measured, goal, met] = await measure()
  rows.push({ what, measured, goal, met })
}
console.table(rows)
