import { expect, it } from 'vitest'
import { type AgentMessage, userMessage } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import { fromSpecJson, specLosses, toSpecJson } from '../../src/rust.ts'

const asked: AgentMessage = {
  ...userMessage('Hi'),
  id: 'u',
  content: [
    { type: 'text', text: 'Hi' },
    { type: 'image', mimeType: 'image/png', data: 'AA==' },
    { type: 'image', mimeType: 'image/png', url: 'https://a.example/x.png' },
    { type: 'file', mimeType: 'application/pdf', name: 'a.pdf', data: 'JVBERi0=' },
  ],
}
const answered: AgentMessage = {
  ...{ role: 'assistant', id: 'a', stopReason: 'stop', model: 'm', provider: 'p', timestamp: 1 },
  usage: { ...emptyUsage(), searches: 2, reportedCost: 0.1 },
  refusal: 'No.',
  logprobs: [{ token: 'No', logprob: -0.25, top: [{ token: 'Yes', logprob: -1.5 }] }],
  content: [
    { type: 'serviceTool', id: 's', name: 'web_search', status: 'done' },
    { type: 'opaque', kind: 'hologram' },
    { type: 'text', text: 'No.', citations: [{ url: 'https://a' }] },
  ],
}

it('lists content that the crate cannot represent, and whether it rejects the history', () => {
  expect(specLosses([asked, answered]).map(({ path, what, isRefused }) => [path, what, isRefused])).toEqual([
    ['messages[0].content[2]', 'an image without bytes (image/png)', true],
    ['messages[0].content[3]', 'a file, a.pdf (application/pdf)', true],
    ['messages[1].content[0]', 'a tool that the provider ran, web_search', true],
    ['messages[1].content[1]', 'unknown content, hologram', true],
    ['messages[1].content[2]', '1 citations of a text', false],
    ['messages[1].refusal', 'refusal of an answer', false],
    ['messages[1].logprobs', 'logprobs of an answer', false],
    ['messages[1].usage.searches', 'searches of an answer', false],
    ['messages[1].usage.reportedCost', 'reportedCost of an answer', false],
  ])
})

it('lists no representable content, and reads everything back', () => {
  expect(
    specLosses([
      { ...userMessage('Hi'), id: 'u' },
      { role: 'extension', kind: 'note', data: 1, id: 'e' },
    ]),
  ).toEqual([])
  expect(fromSpecJson(toSpecJson([asked, answered]))).toEqual([asked, answered])
})
