import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MessageQueue, RunQueue } from '../../../src/agent/message-queue.ts'
import { type CompactionStrategy, isLlmMessage } from '../../../src/context.ts'
import { userMessage, withId } from '../../../src/contract/message/message.ts'
import type { AgentEvent, Message, Receipt, RunResult } from '../../../src/index.ts'
import { type AgentContext, Approvals, agentLoop, type LoopConfig, type LoopHooks, type MessageSupplier } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { prunTools } from '../../../src/tools.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { longHistory } from '../../support/long-history.ts'
import { fastRetry, tool } from '../../support/play.ts'

/**
 * One run in which everything happens that a run can wait for: hooks, filters, steering, a follow-up, a retry, a key, a journal, a
 * compaction, two approvals, tools with updates, a prune, a capture, callbacks that derive the request. Each callback calls `at` once, before
 * and after a wait, so that a run has a countable number of places; at place number `stopAt` it is aborted.
 */
interface Played {
  events: AgentEvent[]
  result: RunResult
  context: AgentContext
  receipts: Receipt[]
  places: string[]
  /** Listeners still on the caller's signal. */
  listening: number
}

/** How the run is stopped. */
interface Stop {
  /** At the place with this number, from 0. */
  place?: number
  /** When the event with this `seq` comes. */
  seq?: number
  /** That many steps after the start: microtasks, and a task for every eighth. */
  steps?: number
  /** The callback where it is stopped never answers. */
  hangs?: boolean
}

const task = () => new Promise<void>((resolve) => setImmediate(resolve))

/** `signal`, with its listeners kept in `listening`; those added `once` are gone when it has aborted. */
function watched(signal: AbortSignal, listening: Set<unknown>): AbortSignal {
  const { addEventListener, removeEventListener } = signal
  const once = new Set<unknown>()
  addEventListener.call(signal, 'abort', () => {
    for (const listener of once) listening.delete(listener)
  })
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listening.add(args[1])
    if (typeof args[2] === 'object' && args[2].once === true) once.add(args[1])
    addEventListener.apply(signal, args)
  }
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listening.delete(args[1])
    removeEventListener.apply(signal, args)
  }
  return signal
}

/** Timers of the runs that are played. Files share a process: what sessions of another file begin meanwhile is not theirs. */
const timers = new Set<unknown>()
const isPlaying = new AsyncLocalStorage<true>()

const playStopped = (stop: Stop): Promise<Played> => isPlaying.run(true, () => played(stop))

async function played(stop: Stop): Promise<Played> {
  const controller = new AbortController()
  const listening = new Set<unknown>()
  const signal = watched(controller.signal, listening)
  const places: string[] = []
  const events: AgentEvent[] = []
  const at = (name: string): Promise<void> => {
    if (places.push(name) - 1 !== stop.place) return Promise.resolve()
    controller.abort(new Error(`stopped at ${name}`))
    return stop.hangs === true ? new Promise(() => undefined) : Promise.resolve()
  }
  const around = async <T>(name: string, value: T): Promise<T> => {
    await at(name)
    await task()
    await at(`${name}, later`)
    return value
  }
  const { config, context, receipts } = everything(around)
  const approvals = new Approvals()
  const emit = (event: AgentEvent) => {
    events.push(event)
    if (event.type === 'approvalRequested' && !controller.signal.aborted) approvals.approve(event)
    if (event.seq === stop.seq) controller.abort('stopped')
  }
  let hasEnded = false
  const ended = agentLoop('go', context, config, { emit, signal, approvals }).finally(() => {
    hasEnded = true
  })
  for (let step = 0; stop.steps !== undefined && step < stop.steps && !hasEnded; step += 1) await (step % 8 === 7 ? task() : undefined)
  if (stop.steps !== undefined && !hasEnded) controller.abort(undefined)
  const result = await ended
  const count = events.length
  for (let n = 0; n < 3; n += 1) await task()
  expect(events.length, 'events after the end').toBe(count)
  expect(approvals.pending()).toEqual([])
  return { events, result, context, receipts, places, listening: listening.size }
}

type Around = <T>(name: string, value: T) => Promise<T>

function everything(around: Around) {
  const waiting = new MessageQueue()
  const steering = new RunQueue(waiting)
  const followUps = new RunQueue(new MessageQueue())
  const receipts = [
    steering.add([withId(userMessage('steer'))]),
    followUps.add([withId(userMessage('follow-up'))]),
    waiting.add([withId(userMessage('idle'))]),
  ]
  const context: AgentContext = { systemPrompt: '', messages: longHistory(20, 100), tools: allTools(around) }
  const config: LoopConfig = {
    model: modelOf(around),
    hooks: allHooks(around),
    inputFilters: [() => around('filter', { type: 'warn', warning: 'w' })],
    steering: steering satisfies MessageSupplier,
    followUps,
    retry: fastRetry,
    approvalTimeoutMs: 1e6,
    toolTimeoutMs: 1e6,
    captureTurnRequests: { httpBody: true },
    contextConfig: { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepRecentTurns: 3, strategy: strategyOf(around) } },
    transformContext: (messages) => around('transformContext', messages),
    convertToLlm: (messages) => around('convertToLlm', messages.filter(isLlmMessage) as readonly Message[]),
    journal: { append: ({ entry }) => around(`journal ${entry.type}`, undefined) },
  }
  return { config, context, receipts }
}

function modelOf(around: Around) {
  const calls = ['asks', 'reports', 'throws'].map((name) => ({ name, arguments: {} }))
  const network = { code: 'network' as const, message: 'cut', retryAfterMs: 0, afterText: true }
  const model = scripted(
    [
      { text: 'half', fail: network },
      { fail: { code: 'contextOverflow', message: 'prompt is too long' } },
      { thinking: 'hm', text: 'I will', toolCalls: calls },
      { toolCalls: [{ name: 'prun', arguments: { tokens: 20 } }] },
      { text: 'done' },
      { fail: { code: 'api', message: 'down' } },
    ],
    { gate: () => around('model', undefined) },
  )
  return { ...model, credentials: { current: () => around('key', 'secret'), invalidate: () => undefined } }
}

function allTools(around: Around) {
  const asks = tool('asks', () => around('tool asks', 'yes'), { needsApproval: () => around('needsApproval', true) })
  const reports = tool('reports', async (_, ctx) => {
    ctx.update({ content: [{ type: 'text', text: 'half' }] })
    await around('tool reports', undefined)
    ctx.update({ content: [{ type: 'text', text: 'almost' }] })
    return 'x'.repeat(400)
  })
  const throws = tool('throws', () => around('tool throws', undefined).then(() => Promise.reject(new Error('no'))))
  return [asks, reports, throws, ...prunTools()]
}

function allHooks(around: Around): LoopHooks {
  return {
    beforeLoop: () => around('beforeLoop', true),
    beforeTurn: () => around('beforeTurn', true),
    afterTurn: () => around('afterTurn', undefined),
    onError: () => around('onError', undefined),
    beforeToolExecution: async ({ toolName, requestApproval }) => {
      await around('beforeToolExecution', undefined)
      if (toolName === 'reports') return (await requestApproval()) && around('after approval', true)
      return toolName === 'asks' ? around('replacing', { arguments: { n: 2 } }) : true
    },
    afterToolExecution: () => around('afterToolExecution', undefined),
    beforeToolExecutionUpdate: () => around('beforeToolExecutionUpdate', true),
    afterToolExecutionUpdate: () => around('afterToolExecutionUpdate', undefined),
    beforeCompactionStart: () => around('beforeCompactionStart', true),
    afterCompactionEnd: () => around('afterCompactionEnd', undefined),
  }
}

function strategyOf(around: Around): CompactionStrategy {
  return { keepCompacted: () => around('keepCompacted', [withId(userMessage('summary'))]) }
}

/** What must hold wherever a run was stopped. */
function check({ events, result, context, receipts, listening }: Played, where: string, status: RunResult['status']): void {
  expect(result.status, where).toBe(status)
  expect(grammarFaults(events), where).toEqual([])
  expect(
    events.filter(({ type }) => type === 'agentEnd'),
    where,
  ).toHaveLength(1)
  expect(unansweredCalls(context.messages), where).toEqual([])
  expect(
    context.messages.slice(40).map(({ id }) => id),
    where,
  ).toEqual(result.messages.map(({ id }) => id))
  for (const receipt of receipts) {
    const isInHistory = context.messages.some(({ id }) => id === receipt.message.id)
    expect(receipt.status, `${where}: ${JSON.stringify(receipt.message)}`).toBe(
      isInHistory ? 'delivered' : receipt === receipts[2] ? 'queued' : 'returned',
    )
  }
  expect(listening, where).toBe(0)
  expect(timers.size, where).toBe(0)
}

/** The conversation can go on: what is sent is whole. */
async function goOn({ context }: Played, where: string): Promise<void> {
  const model = scripted([{ text: 'went on' }])
  const result = await agentLoop('again', context, { model }, { emit: () => undefined, signal: new AbortController().signal })
  expect(result.text, where).toBe('went on')
  const sent = model.provider.requests[0]?.messages ?? []
  expect(unansweredCalls(sent.map(withId)), where).toEqual([])
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  timers.clear()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((act, ms) => {
    const timer = set(() => {
      timers.delete(timer)
      act()
    }, ms)
    if (isPlaying.getStore() === true) timers.add(timer)
    return timer
  })
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    timers.delete(timer)
    clear(timer)
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** The retry waits 0 ms, an aborted journal a second: fake time passes by itself. */
async function passTime<T>(work: Promise<T>): Promise<T> {
  let isOver = false
  void work.then(
    () => (isOver = true),
    () => (isOver = true),
  )
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(100)
    await task()
  }
  return work
}

describe('aborting a run that has every kind of wait', () => {
  it('emits every expected event type without an abort', async () => {
    const played = await passTime(playStopped({}))
    check(played, 'nowhere', 'error')
    const types = new Set(played.events.map(({ type }) => type))
    const expected = [
      'compactionStarted',
      'approvalRequested',
      'toolExecutionUpdate',
      'providerRetry',
      'turnRequest',
      'prunApplied',
    ] as const
    for (const type of expected) expect(types).toContain(type)
    const names = new Set(played.places.map((name) => name.replace(', later', '')))
    for (const name of [
      'keepCompacted',
      'onError',
      'after approval',
      'replacing',
      'journal compaction',
      'journal prune',
      'key',
      'filter',
    ]) {
      expect(names).toContain(name)
    }
    expect(played.places.length).toBeGreaterThan(150)
  })

  it.each([
    ['returns', false],
    ['hangs', true],
  ])('ends the run if an abort comes from a callback that then %s', async (_, hangs) => {
    const whole = await passTime(playStopped({}))
    for (let place = 0; place < whole.places.length; place += 1) {
      const played = await passTime(playStopped({ place, hangs }))
      // Calls that run at the same time do not always come in the same order.
      const where = `${played.places[place]} (${place})`
      // A journal that hangs fails the run: what it was told may not be durable.
      // Of what is queued only its receipt waits for it.
      const failed = hangs && where.startsWith('journal') && !where.startsWith('journal queued')
      const hasEnded = where.startsWith('journal loopEnd')
      check(played, where, failed || hasEnded ? 'error' : 'aborted')
      if (!hangs) await goOn(played, where)
    }
  })

  it('ends the run cleanly after an abort at any event', async () => {
    const whole = await passTime(playStopped({}))
    for (const { seq, type } of whole.events.slice(0, -1)) {
      const played = await passTime(playStopped({ seq }))
      check(played, `${type} ${seq}`, 'aborted')
      await goOn(played, `${type} ${seq}`)
    }
  })

  it('ends the run cleanly after an abort at any step', async () => {
    let isWhole = false
    for (let steps = 0; !isWhole; steps += 1) {
      const played = await passTime(playStopped({ steps }))
      isWhole = played.result.status === 'error'
      check(played, `${steps} steps`, isWhole ? 'error' : 'aborted')
    }
  })
})
