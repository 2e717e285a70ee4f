import { Agent, fileContent, type Model } from 'phi-core'

/** Asks a model about a document, such as a `File` from a file input. */
export async function summarise(model: Model, document: Blob, name: string): Promise<string> {
  const content = [await fileContent(document, { name, citations: true }), { type: 'text' as const, text: 'What does it say?' }]
  return new Agent({ model }).prompt({ role: 'user', content }).text()
}
