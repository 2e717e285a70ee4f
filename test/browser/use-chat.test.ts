import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, type SourceDocumentUIPart, type UIMessage } from 'ai'
import { createElement, type DragEvent, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { afterAll, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { type Citation, memorySessionStore } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { type ScriptedStep, scripted } from '../../src/providers/scripted/index.ts'
import type { StreamRequest } from '../../src/providers.ts'
import { endpointAgent } from '../../testing/index.ts'
import { patient } from '../support/patience.ts'

type DocumentPlace = NonNullable<Citation['document']>

const sessions = memoryLiveSessions({
  store: memorySessionStore(),
  agent: ({ sessionId }) => {
    if (sessionId.startsWith('anthropic')) return { model: anthropic('claude-opus-4-8', { apiKey: 'k', fetch: citingAnthropic }) }
    if (sessionId.startsWith('bedrock')) return { model: bedrock('anthropic.claude-opus-4-6-v1', { apiKey: 'k', fetch: citingBedrock }) }
    return sessionId.startsWith('pdf') ? { model: scripted(cites) } : endpointAgent(sessionId)
  },
})
afterAll(() => sessions.close())
const app = createAgentApp({ sessions, authorize: 'loopbackOnly' })
// The server is in the page; what is between them is what a network carries.
const transport = new DefaultChatTransport({
  api: 'http://localhost/chat',
  fetch: async (input, init) => app.fetch(new Request(input, init)),
})

/** Sends page 2 of the document that it was sent, where it was asked to cite it. */
function citing(answer: (name: string) => object[], type: string): typeof fetch {
  return async (_input, init) => {
    const body = String(init?.body)
    const isAsked = body.includes('"citations":{"enabled":true}') && body.includes(btoa('%PDF-1.4\n'))
    const lines = answer(isAsked ? 'report.pdf' : 'nothing').map((event) => JSON.stringify(event))
    const text = type.includes('ndjson') ? lines.map((line) => `${line}\n`) : lines.map((line) => `data: ${line}\n\n`)
    return new Response(text.join(''), { headers: { 'content-type': type } })
  }
}
const citingAnthropic = citing((document_title) => {
  const page = { type: 'page_location', document_index: 0, document_title, start_page_number: 2, end_page_number: 3, cited_text: 'Up.' }
  return [
    { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'It grew.', citations: [page] } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
}, 'text/event-stream')
const citingBedrock = citing((name) => {
  const location = { documentPage: { documentIndex: 0, start: 2, end: 3 } }
  const citation = { title: name === 'report.pdf' ? 'document-1' : name, sourceContent: [{ text: 'Up.' }], location }
  return [
    { messageStart: { role: 'assistant' } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'It grew.' } } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { citation } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { messageStop: { stopReason: 'end_turn' } },
    { metadata: { usage: { inputTokens: 1, outputTokens: 2 } } },
  ]
}, 'application/x-ndjson')

/** Answers about the PDF that it was sent. */
function cites({ messages }: StreamRequest): ScriptedStep {
  const sent = messages[0]?.content.find(({ type }) => type === 'file')
  if (sent?.type !== 'file' || sent.data === undefined) return { text: 'There is no file.' }
  return {
    text: `It grew, says a file of ${atob(sent.data).length} bytes.`,
    citations: [
      { title: sent.name ?? '', document: { index: 0, unit: 'page', start: 2, end: 3 } },
      { title: 'Figures', url: 'https://figures.example/2026' },
    ],
  }
}

/** A source with a link to each page that is cited, where the page has the file. */
function pageLinks({ title, providerMetadata }: SourceDocumentUIPart, messages: UIMessage[]): (string | ReactElement)[] {
  const phi = providerMetadata?.phi as { citations: { document?: DocumentPlace }[] } | undefined // see ui-protocols.md
  const links = (phi?.citations ?? []).flatMap(({ document: place }, key) => {
    const { parts = [] } = messages.find(({ id }) => id === place?.messageId) ?? {}
    // Pictures are file parts too.
    const files = parts.filter((part) => part.type === 'file' && !part.mediaType.startsWith('image/'))
    const file = files[place?.fileIndex ?? -1]
    if (file?.type !== 'file' || place === undefined) return []
    return [createElement('a', { key, href: `${file.url}#page=${place.start}` }, ` page ${place.start}`)]
  })
  return [title, ...links]
}

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
    {
      onDrop: (event: DragEvent) => {
        event.preventDefault()
        void sendMessage({ text: 'Did it grow?', files: event.dataTransfer.files })
      },
    },
    createElement('output', {}, error?.message ?? status),
    messages.map(({ id: key, role, parts }) =>
      createElement(
        'article',
        { key },
        `${role}: `,
        parts.map((part, at) => {
          if (part.type === 'text') return createElement('span', { key: at }, part.text)
          if (part.type === 'file') return createElement('em', { key: at }, part.filename)
          if (part.type === 'source-url') return createElement('a', { key: at, href: part.url }, part.title)
          if (part.type === 'source-document') return createElement('cite', { key: at }, pageLinks(part, messages))
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
    drop: (file: File) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(file)
      place.querySelector('main')?.dispatchEvent(new globalThis.DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
    },
    links: () => [...place.querySelectorAll('cite a')].map((link) => link.getAttribute('href')),
    shows: (text: string | RegExp) => vi.waitFor(() => expect(shown()).toMatch(text), patient),
    close: () => {
      root.unmount()
      place.remove()
    },
  }
}

it('streams, requests approval and continues with useChat', async () => {
  const page = open(`ask-${crypto.randomUUID()}`)
  await page.press('Send')
  await page.press('Allow')
  await page.shows(/ready.*user: Go\. assistant: .*output-available.*Sent\./)
  page.close()
})

it('restores messages after reopening and resumes the active run', async () => {
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

it('cites sources of a dropped PDF, also after reopening', async () => {
  const id = `pdf-${crypto.randomUUID()}`
  const first = open(id)
  await first.shows(/ready/)
  first.drop(new File(['%PDF-1.4\n'], 'report.pdf', { type: 'application/pdf' }))
  const promptText = /ready ?user: report\.pdf ?Did it grow\? ?assistant: It grew, says a file of 9 bytes\. ?report\.pdf ?Figures/
  await first.shows(promptText)
  first.close()
  const { messages } = await (await app.request(`http://localhost/chat/${id}`)).json()
  const second = open(id, messages)
  await second.shows(promptText)
  second.close()
})

it.each(['anthropic', 'bedrock'])('cites pages of a dropped PDF by link, also after reopening: %s', async (service) => {
  const id = `${service}-${crypto.randomUUID()}`
  const first = open(id)
  await first.shows(/ready/)
  first.drop(new File(['%PDF-1.4\n'], 'report.pdf', { type: 'application/pdf' }))
  const promptText = /ready ?user: report\.pdf ?Did it grow\? ?assistant: It grew\. ?report\.pdf page 2/
  await first.shows(promptText)
  const link = `data:application/pdf;base64,${btoa('%PDF-1.4\n')}#page=2`
  expect(first.links()).toEqual([link])
  first.close()
  const { messages } = await (await app.request(`http://localhost/chat/${id}`)).json()
  const second = open(id, messages)
  await second.shows(promptText)
  expect(second.links()).toEqual([link])
  second.close()
})
