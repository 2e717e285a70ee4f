import { indexedDbSessionStore } from 'phi-core/browser'
import type { Chat } from 'phi-core/store'
import { attachComposer } from './composer.ts'
import { Conversations } from './conversations.ts'
import { button, element, showTranscript } from './transcript.ts'

function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind {
  const found = document.querySelector(selector)
  if (!(found instanceof kind)) throw new Error(`This program needs ${selector} of examples/chat/index.html.`)
  return found
}

const transcript = find('#transcript', HTMLElement)
const list = find('#conversations', HTMLElement)
const field = find('#composer textarea', HTMLTextAreaElement)
const status = find('#status', HTMLElement)
const places = { form: find('#composer', HTMLFormElement), field, stop: find('#stop', HTMLButtonElement), status }

// If two tabs open a conversation, the tab that sends a prompt takes over, and the other one shows a notice.
const store = indexedDbSessionStore({
  name: 'phi-chat',
  onTakenOver: (sessionId) => void (conversations.lose(sessionId) && status.replaceChildren('This conversation continues in another tab.')),
  onChange: () => attempt(drawList),
})
let leave: (() => void)[] = []
/** Shows every failure. */
const attempt = (act: () => Promise<unknown>) => void act().catch((error: unknown) => status.replaceChildren(String(error)))
const conversations = new Conversations(store, show)

function show(chat: Chat): void {
  for (const stop of leave) stop()
  let last = ''
  const onChange = () => {
    const { status: now } = chat.getSnapshot()
    if (now !== last) attempt(drawList)
    last = now
  }
  leave = [showTranscript(chat, transcript), attachComposer(chat, places), chat.subscribe(onChange)]
  attempt(drawList)
}

async function drawList(): Promise<void> {
  const rows = (await conversations.list()).map(({ sessionId, title, isRunning }) => {
    const row = element('li')
    const open = button(isRunning ? `${title} (running)` : title, () => attempt(() => conversations.show(sessionId)))
    if (sessionId === conversations.currentId) open.setAttribute('aria-current', 'page')
    row.append(open)
    return row
  })
  list.replaceChildren(...rows)
}

find('#new', HTMLButtonElement).addEventListener('click', () => attempt(() => conversations.show()))

// A reload restores messages, pending approvals and interrupted calls.
attempt(async () => {
  const [latest] = (await store.list({ limit: 1 })).sessions
  await conversations.show(latest?.sessionId)
})
