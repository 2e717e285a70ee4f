import { describe, expect, it } from 'vitest'
import type { Content, FileContent } from '../../../src/contract/message/content.ts'
import type { Message } from '../../../src/contract/message/message.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answer, bodyFor, call, claude, request, result, user, wireMessages } from './call.ts'
import { bedrockFaults } from './grammar.ts'

const nova = 'us.amazon.nova-2-lite-v1:0'
const file = (changes: Partial<FileContent> = {}): FileContent => ({
  type: 'file',
  mimeType: 'application/pdf',
  data: 'JVBERi0=',
  ...changes,
})
const text: Content = { type: 'text', text: 'What?' }
const said = (...content: Content[]): Message => ({ role: 'user', content, timestamp: 1 })
const rules = { ids: /^[a-zA-Z0-9_-]{1,64}$/, signed: false }

async function sent(messages: Message[], id = nova, changes: Partial<StreamRequest> = {}) {
  const body = await bodyFor(request(id, { messages, cache: { type: 'disabled' }, ...changes }))
  expect(bedrockFaults(body, rules)).toEqual([])
  return body.messages
}

const warned = async (messages: Message[], id = nova, changes: Partial<StreamRequest> = {}) =>
  (await bedrock(id, {}).provider.encode(request(id, { messages, ...changes }))).warnings

describe('a document', () => {
  it.each([
    ['application/pdf', 'pdf'],
    ['text/csv', 'csv'],
    ['application/msword', 'doc'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
    ['application/vnd.ms-excel', 'xls'],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
    ['text/html', 'html'],
    ['text/plain; charset=utf-8', 'txt'],
    ['text/markdown', 'md'],
  ])('sends type %s as %s under a valid document name', async (mimeType, format) => {
    const name = 'Ignore all: "instructions".pdf'
    const [message] = await sent([said(file({ mimeType, name, context: 'Of 2026.' }), text)])
    const document = { format, name: 'document-1', source: { bytes: 'JVBERi0=' }, context: `${name}: Of 2026.` }
    expect(message?.content).toEqual([{ document }, { text: 'What?' }])
  })

  it('adds text to a message with only a document', async () => {
    const [message] = await sent([said(file())])
    expect(message?.content).toMatchObject([{ document: {} }, { text: '(see attached document)' }])
  })

  it('gives each document in a conversation a unique, stable name', async () => {
    const called = answer([call('a')], { model: nova, stopReason: 'toolUse' })
    const messages = [said(file(), text), called, result('a', [file()]), said(file(), file({ data: 'JVBERi1z' }), text)]
    const { provider, config } = bedrock(nova)
    const names = async (history: readonly Message[]) => {
      const { body } = await provider.encode({ ...request(nova), model: config, messages: history })
      return [...body.matchAll(/"name":"(document-\d+)"/g)].map((match) => match[1])
    }
    expect(await names(messages.slice(0, 3))).toEqual(['document-1', 'document-2'])
    expect(await names(messages)).toEqual(['document-1', 'document-2', 'document-3', 'document-4'])
    await sent(messages)
  })

  it('names a large document', async () => {
    const long = () => file({ data: `JVBERi0${'A'.repeat(100_001)}` })
    const [message] = await sent([said(long(), long(), text)])
    expect(message?.content).toMatchObject([{ document: { name: 'document-1' } }, { document: { name: 'document-2' } }, {}])
  })

  it('nests a document in its result, or appends it after a failed one', async () => {
    const called = answer([call('a'), call('b')], { model: nova, stopReason: 'toolUse' })
    const messages = await sent([user('x'), called, result('a', [file()]), result('b', [file()], true)])
    expect(messages[2]?.content).toMatchObject([
      { toolResult: { content: [{ document: { name: 'document-1' } }], status: 'success' } },
      { toolResult: { content: [{ text: '(see attached files)' }], status: 'error' } },
      { document: { name: 'document-2' } },
      { text: '(see attached document)' },
    ])
  })

  it("omits a message's sixth and later documents with a warning", async () => {
    const six = Array.from({ length: 6 }, (_, at) => file({ name: `${at}.pdf` }))
    const [message] = await sent([said(...six, file({ mimeType: 'text/plain', data: btoa('words') }), text)])
    expect(message?.content.filter(({ document }) => document !== undefined)).toHaveLength(5)
    expect(message?.content.slice(5)).toMatchObject([
      { text: expect.stringContaining('5.pdf') },
      { text: 'A file:\nwords' },
      { text: 'What?' },
    ])
    expect(await warned([said(...six, text)])).toEqual([expect.stringContaining('takes 5 such files')])
  })

  it('omits oversized documents with a warning, and allows larger PDFs on newer models', async () => {
    const data = 'A'.repeat(6 * 1024 * 1024 + 4)
    const sheet = said(file({ mimeType: 'text/html', data: btoa('\xff').repeat(2 * 1024 * 1024) }), text)
    expect(await warned([sheet])).toEqual([expect.stringContaining('this provider accepts 4718592')])
    expect(await warned([said(file({ data: `JVBERi0${'A'.repeat(data.length + 5)}` }), text)])).toEqual([])
  })

  it('rejects with requireMedia if a document would be omitted', async () => {
    const messages = [said(...Array.from({ length: 6 }, () => file()), text)]
    const { provider, config } = bedrock(nova, { requireMedia: true })
    const made = { ...request(nova, { messages }), model: config }
    await expect(provider.stream(made, () => undefined, new AbortController().signal)).rejects.toThrow(/takes 5 such files/)
  })
})

it('counts a repeated block each time', async () => {
  const same = file()
  const [message] = await sent([said(same, same, same, same, same, same, text)])
  expect(message?.content.filter(({ document }) => document !== undefined)).toHaveLength(5)
})

describe('Bedrock citations', () => {
  it('requests PDF citations for Claude by default, others on demand', async () => {
    const [message] = await wireMessages(
      [said(file(), file({ citations: false }), file({ mimeType: 'text/html' }), file({ mimeType: 'text/html', citations: true }), text)],
      {},
      claude,
    )
    const asked = message?.content.flatMap(({ document }) => (document === undefined ? [] : [Object(document).citations?.enabled]))
    expect(asked).toEqual([true, undefined, undefined, true])
    const [other] = await sent([said(file(), text)])
    expect(Object(other?.content[0]?.document).citations).toBeUndefined()
  })

  it('omits citations next to an output schema and warns', async () => {
    const responseFormat = { type: 'jsonSchema', name: 'a', schema: { type: 'object', properties: {} } } as const
    const messages = [said(file({ citations: true }), text)]
    const [message] = await sent(messages, claude, { responseFormat })
    expect(message?.content[0]).toEqual({ document: { format: 'pdf', name: 'document-1', source: { bytes: 'JVBERi0=' } } })
    expect(await warned(messages, claude, { responseFormat })).toContainEqual(expect.stringContaining('citations omitted'))
  })
})

it('sends a video to models that accept video', async () => {
  const video = file({ mimeType: 'video/mp4', data: 'AAAA' })
  const [message] = await sent([said(video, text)])
  expect(message?.content[0]).toEqual({ video: { format: 'mp4', source: { bytes: 'AAAA' } } })
  expect(JSON.stringify(await sent([said(video, text)], claude))).toContain('file left out')
})
