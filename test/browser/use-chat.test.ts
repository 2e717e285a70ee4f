import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai'
import { createElement, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { afterAll, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { endpointAgent } from '../../src/testing/index.ts'
import { patient } from '../support/patience.ts'

const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
afterAll(() => sessions.close())
const app = createAgentApp({ sessions, authorize: 'loopbackOnly' })
// The server is in the page; what is between them is what a network carries.
const transport = new DefaultChatTransport({
  api: 'http://localhost/chat',
  fetch: async (input, init) => app.fetch(new Request(input, init)),
})

/** What the documentation of the AI SDK has people write. */
function ChatPage({ id, initial, resume }: { id: string; initial: UIMessage[]; resume: boolean }): ReactElement {
  const { messages, sendMessage, regenerate, stop, status, error, addToolApprovalResponse } = useChat({
    id,
    messages: initial,
    resume,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  const button = (name: string, onClick: () => unknown) =>
    createElement('button', { type: 'button', key: name, onClick: () => void onClick() }, name)
  return createElement(
    'main',
    {},
    createElement('output', {}, error?.message ?? status),
    messages.map(({ id: key, role, parts }) =>
      createElement(
        'article',
        { key },
        `${role}: `,
        parts.map((part, at) => {
          if (part.type === 'text') return createElement('span', { key: at }, part.text)
          if (part.type !== 'dynamic-tool') return null
          const { state, approval } = part
          if (state !== 'approval-requested' || approval === undefined) return createElement('i', { key: at }, state)
          return button('Allow', () => addToolApprovalResponse({ id: approval.id, approved: true }))
        }),
      ),
    ),
    button('Send', () => sendMessage({ text: 'Go.' })),
    button('Again', () => regenerate()),
    button('Stop', () => stop()),
  )
}

/** A page with the chat in it. */
function open(id: string, initial: UIMessage[] = [], resume = false) {
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  root.render(createElement(ChatPage, { id, initial, resume }))
  const shown = () => place.innerText.replaceAll('\n', ' ')
  return {
    press: (name: string) =>
      vi.waitFor(() => {
        const found = [...place.querySelectorAll('button')].find(({ textContent }) => textContent === name)
        if (found === undefined) throw new Error(`There is no ${name} in: ${shown()}`)
        found.click()
      }, patient),
    shows: (text: string | RegExp) => vi.waitFor(() => expect(shown()).toMatch(text), patient),
    close: () => {
      root.unmount()
      place.remove()
    },
  }
}

it('a page with useChat streams, asks for approval, and goes on', async () => {
  const page = open(`ask-${crypto.randomUUID()}`)
  await page.press('Send')
  await page.press('Allow')
  await page.shows(/ready.*user: Go\. assistant: .*output-available.*Sent\./)
  page.close()
})

it('a page that is opened again shows what was said, and resumes what is on', async () => {
  const id = `slow-${crypto.randomUUID()}`
  const first = open(id)
  await first.press('Send')
  await first.shows(/assistant: 0 1 2/)
  first.close()
  const { messages } = await (await app.request(`http://localhost/chat/${id}`)).json()
  const second = open(id, messages, true)
  await second.shows(/ready.*assistant: 0 1 2 .* 148 149/)
  await second.press('Again')
  await second.shows(/streaming.*assistant: 0 1 2/)
  await app.request(`http://localhost/chat/${id}/stop`, { method: 'POST' })
  await second.shows(/ready/)
  second.close()
})
