import { Agent, fileContent, type Model } from 'phi-core'

/** Asks a model about a document, and returns the response with the reason for each file that the provider refused. */
export async function askAbout(model: Model, document: Blob, question: string): Promise<{ answer: string; unread: string[] }> {
  const content = [await fileContent(document, { name: 'document.pdf' }), { type: 'text' as const, text: question }]
  const { text, error, messages } = await new Agent({ model }).prompt({ role: 'user', content }).result
  // The file exceeds a documented limit: no request was sent, and the history does not contain the message.
  if (error?.code === 'unsupportedMedia') return { answer: text, unread: [error.message] }
  // The provider refused the file and responded without it.
  const refused = messages.flatMap((message) => (message.role === 'assistant' ? (message.refusedMedia ?? []) : []))
  return { answer: text, unread: refused.map(({ reason }) => reason) }
}
