import { createElement, memo, Profiler, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { expect, it, vi } from 'vitest'
import { useAgent, useMessage, usePart } from '../../../adapters/react/index.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { createChat, smoothText } from '../../../src/store.ts'
import { patient } from '../../support/patience.ts'

/** Renders of each component since it was last emptied. */
let renders: string[] = []

interface Of {
  agent: Agent
  id: string
}

const Part = memo(({ agent, id, index }: Of & { index: number }) => {
  renders.push('part')
  const part = usePart(agent, id, index)
  return createElement('span', null, part?.type === 'text' ? part.text : part?.type)
})

const Message = memo(({ agent, id }: Of) => {
  renders.push('message')
  const count = useAgent(agent, ({ messages, messageIds }) => messages[messageIds.indexOf(id)]?.parts.length ?? 0)
  return createElement(
    'li',
    null,
    Array.from({ length: count }, (_, index) => createElement(Part, { key: index, agent, id, index })),
  )
})

function List({ agent, onListening }: { agent: Agent; onListening: () => void }) {
  renders.push('list')
  useEffect(onListening, [onListening])
  const ids = useAgent(agent, (state) => state.messageIds)
  return createElement(
    'ol',
    null,
    ids.map((id) => createElement(Message, { key: id, agent, id })),
  )
}

it('renders one component per delta among 500 messages', async () => {
  const messages = Array.from({ length: 500 }, (_, at) => ({
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: [{ type: 'text' as const, text: `message ${at}` }],
  }))
  const deltas = Array.from({ length: 50 }, (_, at) => ` word${at}`)
  const agent = new Agent({ model: scripted([{ text: deltas }], { delayMs: 5 }), messages })
  const root = document.createElement('div')
  // Effects of children run before those of their parent: then all of them listen. One that begins to listen while a run is on renders once more.
  await new Promise<void>((onListening) => createRoot(root).render(createElement(List, { agent, onListening })))
  await vi.waitFor(() => expect(root.querySelectorAll('li')).toHaveLength(500), patient)

  const perDelta: string[][] = []
  const run = agent.prompt('Count.')
  const seen = new Set<string>()
  agent.subscribe((event) => {
    if (event.type !== 'messageUpdate') return
    // What was rendered since the delta before is of that one, or of what came before the first.
    if (seen.size > 1) perDelta.push(renders)
    seen.add(String(event.seq))
    renders = []
  })
  await run.result
  await vi.waitFor(() => expect(root.textContent).toContain(`${deltas.join('')}`), patient)
  expect(perDelta.length).toBeGreaterThan(20)
  expect(perDelta.filter((each) => each.length > 1)).toEqual([])
  expect(perDelta.flat().every((name) => name === 'part')).toBe(true)
  expect(perDelta.flat().length).toBeGreaterThan(20)
})

function Whole({ agent }: { agent: Agent }) {
  const { messages, status, send } = useAgent(agent)
  const [draft, write] = useState('Hello')
  const say = async () => {
    if (await send(draft)) write('')
  }
  const lines = messages.map(({ id }) => createElement(Line, { key: id, agent, id }))
  return createElement(
    'section',
    { 'data-status': status },
    lines,
    createElement('button', { type: 'button', onClick: say }, 'Send'),
    draft,
  )
}

function Line({ agent, id }: Of) {
  const message = useMessage(agent, id)
  return createElement(
    'p',
    null,
    message?.parts.map((part) => (part.type === 'text' ? part.text : part.type)),
  )
}

it('shows a conversation in one component and keeps the draft until sent', async () => {
  const agent = new Agent({ model: scripted([{ text: 'Good day.' }]) })
  const root = document.createElement('div')
  createRoot(root).render(createElement(Profiler, { id: 'page', onRender: () => undefined }, createElement(Whole, { agent })))
  await vi.waitFor(() => expect(root.querySelector('button')).not.toBeNull(), patient)
  root.querySelector('button')?.click()
  await vi.waitFor(() => expect(root.querySelector('section')?.dataset.status).toBe('completed'), patient)
  expect(root.textContent).toBe('HelloGood day.Send')
})

it('shows whole words for a chat with smooth text', async () => {
  const agent = new Agent({ model: scripted([{ text: ['One tw', 'o three fo', 'ur fi', 've.'], delayMs: 40 }]) })
  const chat = createChat(agent, { smooth: smoothText('word') })
  const seen = new Set<string>()
  function Text() {
    const part = useAgent(chat, ({ messages }) => messages[1]?.parts[0])
    if (part?.type === 'text') seen.add(part.text)
    return createElement('p', null, part?.type === 'text' ? part.text : '')
  }
  const root = document.createElement('div')
  createRoot(root).render(createElement(Text))
  await chat.actions.send('Count.')
  await vi.waitFor(() => expect(root.textContent).toBe('One two three four five.'), patient)
  expect(Array.from(seen).filter((text) => /[a-z]$/.test(text))).toEqual([])
})
