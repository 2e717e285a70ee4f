import { Agent, fileContent, type Model } from 'phi-core'

/** Asks a model about a document, and returns the response with a reason for each file that the model did not read. */
export async function askAbout(model: Model, document: Blob, question: string): Promise<{ answer: string; unread: string[] }> {
  const content = [await fileContent(document, { name: 'document.pdf' }), { type: 'text' as const, text: question }]
  const { text, error, messages } = await new Agent({ model }).prompt({ role: 'user', content }).result
  // Over a documented limit: nothing was sent, and the message is not in the history.
  if (error?.code === 'unsupportedMedia') return { answer: text, unread: [error.message] }
  // The provider refused the file and responded without it.
  const refused = messages.flatMap((message) => (message.role === 'assistant' ? (message.refusedMedia ?? []) : []))
  return { answer: text, unread: refused.map(({ reason }) => reason) }
}
