import { Agent, type Citation, fileContent, type Model } from 'phi-core'

/** Returns a response with a number after each cited passage, and the list of sources. */
export async function answerWithSources(model: Model, document: Blob, question: string): Promise<{ text: string; sources: string[] }> {
  const content = [await fileContent(document, { name: 'report.pdf', citations: true }), { type: 'text' as const, text: question }]
  const { messages } = await new Agent({ model }).prompt({ role: 'user', content }).result
  const sources: string[] = []
  let text = ''
  for (const block of messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))) {
    if (block.type !== 'text') continue
    const numbers = (block.citations ?? []).map((citation) => numberOf(citation, sources))
    text += block.text + [...new Set(numbers)].map((number) => `[${number}]`).join('')
  }
  return { text, sources }
}

function numberOf({ title, url, document }: Citation, sources: string[]): number {
  const place = document === undefined ? '' : `, ${document.unit} ${document.start}`
  const source = `${title ?? url ?? 'a source'}${place}`
  if (!sources.includes(source)) sources.push(source)
  return sources.indexOf(source) + 1
}
