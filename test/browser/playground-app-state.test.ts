import { signal } from '@preact/signals'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { endFirstWords } from '../../playground/src/late/first-words.ts'
import { defaultSettings, type Settings } from '../../playground/src/settings/settings.ts'
import { type AppState, createAppState } from '../../playground/src/state/app/app-state.ts'
import type { SettableBackend } from '../../playground/src/state/backend/chat-port.ts'
import { keptIn } from '../../playground/src/state/backend/kept-here.ts'
import { LocalBackend } from '../../playground/src/state/backend/local-backend.ts'
import { memorySessionStore, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memoryWorkspace, writeFileTool } from '../../src/tools.ts'

const facts = { name: 'test', isScripted: true, contextTokens: 1000, compactsAt: 900 }
const cost = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }

/** Lets every call of what is awaited through but the one with this number. */
class Faults {
  calls = 0
  at = 0
  hit: string | undefined

  pass(name: string): void {
    this.calls += 1
    if (this.calls !== this.at) return
    this.hit = name
    throw new Error(`fault ${this.at} in ${name}`)
  }

  /** `target`, each of whose methods of these names may fail before it does anything. */
  in<Target extends object>(target: Target, names: readonly string[], wrap: (value: unknown) => unknown = (value) => value): Target {
    return new Proxy(target, {
      get: (own, name) => {
        const value: unknown = Reflect.get(own, name, own)
        if (typeof value !== 'function') return value
        if (!names.includes(String(name))) return value.bind(own)
        return (...args: unknown[]) => {
          if (name === 'begin') return wrap(value.apply(own, args))
          const act = async () => {
            this.pass(String(name))
            return wrap(await value.apply(own, args))
          }
          return act()
        }
      },
    })
  }
}

/** Says what it was told, or asks before it writes. */
function answering(): ReturnType<typeof scripted> {
  return scripted((request) => {
    const last = request.messages.at(-1)
    const text = last?.content.map((block) => (block.type === 'text' ? block.text : '')).join('') ?? ''
    if (last?.role === 'user' && text.startsWith('write'))
      return { toolCalls: [{ name: 'write_file', arguments: { path: 'a', content: 'b' } }] }
    return { text: `You said: ${text}` }
  })
}

async function open(faults = new Faults(), kept: SessionStore = memorySessionStore()): Promise<AppState> {
  const store = faults.in(kept, ['load', 'list', 'rename', 'delete'])
  const workspace = memoryWorkspace()
  const tools = [{ ...writeFileTool({ workspace }), needsApproval: true }]
  const setUp = () => ({ options: { model: answering(), tools, workspace }, model: { ...facts, cost } })
  const local = new LocalBackend(setUp, async () => keptIn(store))
  const settings = signal<Settings>(defaultSettings)
  const methods = ['begin', 'open', 'list', 'read', 'isOpen', 'takeOver', 'remove', 'rename', 'exportAs', 'importFrom', 'use']
  const port = (value: unknown) =>
    typeof value === 'object' && value !== null && 'agent' in value ? faults.in(value, ['recorded', 'close']) : value
  const backend: SettableBackend = Object.assign(Object.create(faults.in(local, methods, port)), {
    settings,
    async use(next: Settings) {
      faults.pass('use')
      settings.value = next
    },
  })
  const appState = await createAppState(async () => backend)
  await appState.settle()
  return appState
}

endFirstWords()

const rejections: string[] = []
const onRejection = (event: PromiseRejectionEvent) => rejections.push(String(event.reason))
beforeEach(() => {
  // WebKit lets a page change its address a hundred times in ten seconds, and each of these pages is a new one.
  for (const how of ['pushState', 'replaceState'] as const) vi.spyOn(history, how).mockImplementation(() => undefined)
  sessionStorage.clear()
  rejections.length = 0
  addEventListener('unhandledrejection', onRejection)
})
afterEach(() => {
  vi.restoreAllMocks()
  removeEventListener('unhandledrejection', onRejection)
})

const idle = async (appState: AppState) => void (await appState.current.value.chat.agent.currentRun?.result)

async function say(appState: AppState, text: string): Promise<void> {
  appState.current.value.draft.text.value = text
  await appState.current.value.submit('steer')
  await idle(appState)
}

/** Everything that a person wrote and that is still somewhere: said, waiting, or in a draft. */
function wordsIn(appState: AppState, conversations: ReadonlySet<AppState['current']['value']>): string {
  return [...conversations, appState.current.value]
    .flatMap(({ chat, draft, queued }) => [
      draft.text.value,
      ...queued.value.map(({ text }) => text),
      ...chat.agent.messages.map((message) => JSON.stringify(message)),
    ])
    .join('\n')
}

/** What a person does in a day. */
async function story(appState: AppState, file: string): Promise<Set<AppState['current']['value']>> {
  const seen = new Set<AppState['current']['value']>()
  const step = async (act: () => unknown) => {
    seen.add(appState.current.value)
    await act()
    seen.add(appState.current.value)
  }
  await step(() => say(appState, 'first words'))
  const { sessionId } = appState.current.value
  await step(() => appState.stored.rename(sessionId, 'A name'))
  await step(() => appState.create())
  await step(() => say(appState, 'second words'))
  await step(() => appState.open(sessionId))
  await step(() => say(appState, 'third words'))
  await step(() => appState.configure({ ...appState.backend.settings.value, thinking: 'high' }))
  await step(() => say(appState, 'fourth words'))
  await step(() => appState.takeOver())
  await step(() => appState.replay())
  await step(() => appState.open(sessionId))
  await step(() => appState.importFrom(new Blob([file])))
  await step(() => appState.handOver(appState.backend.settings.value))
  await step(() => appState.remove(['nobody']))
  await step(() => appState.stored.more())
  return seen
}

it('reports a failure at any await of appState without losing text', async () => {
  const other = await open()
  await say(other, 'of another day')
  const { text: file } = await other.backend.exportAs(other.current.value.sessionId, 'phi')
  const silent: string[] = []
  let at = 0
  for (let isThrough = false; !isThrough; ) {
    const faults = new Faults()
    faults.at = ++at
    const messages = new Set<string>()
    const appState = await open(faults)
    const stop = appState.notices.list.subscribe((list) => {
      for (const { text } of list) messages.add(text)
    })
    const seen = await story(appState, file)
    await new Promise((resolve) => setTimeout(resolve))
    stop()
    isThrough = faults.hit === undefined
    const words = wordsIn(appState, seen)
    for (const prompt of ['first words', 'second words', 'third words', 'fourth words'])
      expect([faults.hit, words]).toEqual([faults.hit, expect.stringContaining(prompt)])
    if (!isThrough && ![...messages].some((text) => text.includes(`fault ${at} `))) silent.push(`${faults.hit} (${at})`)
  }
  expect(at).toBeGreaterThan(60)
  expect(silent).toEqual([])
  expect(rejections).toEqual([])
}, 120_000)

it('keeps text in the composer if the store fails and sends it afterwards', async () => {
  const kept = memorySessionStore()
  let isFull = true
  const full = new Proxy(kept, {
    get(own, name) {
      const value: unknown = Reflect.get(own, name, own)
      if (name !== 'journal' || typeof value !== 'function') return typeof value === 'function' ? value.bind(own) : value
      return (...args: unknown[]) => {
        const journal = value.apply(own, args)
        const append = journal.append.bind(journal)
        return Object.assign(journal, {
          append: async (...given: unknown[]) => {
            if (isFull) throw Object.assign(new Error('No room.'), { code: 'quota' })
            return append(...given)
          },
        })
      }
    },
  })
  const appState = await open(new Faults(), full)
  await say(appState, 'words that matter')
  const conversation = appState.current.value
  expect(conversation.draft.text.value).toBe('words that matter')
  await expect.poll(() => conversation.state.value.status).toBe('error')
  isFull = false
  conversation.retry()
  await expect.poll(() => conversation.draft.text.value).toBe('')
  await idle(appState)
  const userMessages = conversation.chat.agent.messages.filter(({ role }) => role === 'user')
  expect(userMessages).toHaveLength(1)
  expect(rejections).toEqual([])
})

it('continues a run in a hidden conversation and leaves its approval to the user', async () => {
  const appState = await open()
  const first = appState.current.value
  first.draft.text.value = 'write it'
  await first.submit('steer')
  await expect.poll(() => appState.activity.value.get(first.sessionId)?.kind).toBe('needsYou')
  appState.create()
  await say(appState, 'something else')
  expect(appState.activity.value.get(first.sessionId)?.kind).toBe('needsYou')
  await appState.configure({ ...defaultSettings, thinking: 'high' })
  await appState.open(first.sessionId)
  expect(appState.current.value).toBe(first)
  const [request] = first.state.value.approvals
  if (request !== undefined) first.approve(request)
  await idle(appState)
  await expect.poll(() => first.state.value.status).toBe('completed')
  expect(first.chat.agent.messages.some((message) => message.role === 'toolResult' && !message.isError)).toBe(true)
})

it('marks a hidden conversation as answered until the user opens it', async () => {
  const appState = await open()
  const first = appState.current.value
  first.draft.text.value = 'hello'
  const sent = first.submit('steer')
  appState.create()
  await sent
  await expect.poll(() => appState.activity.value.get(first.sessionId)?.kind).toBe('done')
  await appState.open(first.sessionId)
  expect(appState.activity.value.get(first.sessionId)).toBe(undefined)
  expect(appState.current.value.state.value.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
})

it('keeps a draft with its conversation and clears a failed import notice on success', async () => {
  const appState = await open()
  await say(appState, 'hello')
  const { sessionId } = appState.current.value
  appState.current.value.draft.text.value = 'half a thought'
  appState.create()
  expect(appState.current.value.draft.text.value).toBe('')
  await appState.open(sessionId)
  expect(appState.current.value.draft.text.value).toBe('half a thought')
  const { text } = await appState.backend.exportAs(sessionId, 'phi')
  await appState.importFrom(new Blob(['{"no": "session"}']))
  expect(appState.notices.list.value.map(({ topic }) => topic)).toEqual(['import'])
  await appState.importFrom(new Blob([text]))
  expect(appState.notices.list.value).toEqual([])
})
