import { Agent, fileContent, type Model } from 'phi-core'

/** Reads each document in a separate conversation, then answers from the findings. The total size can exceed the context window. */
export async function askDocuments(model: Model, documents: readonly File[], question: string, atOnce = 4): Promise<string> {
  const findings: string[] = []
  const queue = [...documents.entries()]
  const readNext = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) findings[next[0]] = await findingIn(model, next[1], question)
  }
  await Promise.all(Array.from({ length: atOnce }, readNext))
  const agent = new Agent({ model, systemPrompt: 'Answer only from these findings. Name the documents that you use.' })
  return agent.prompt(`${question}\n\n${findings.join('\n\n')}`).text()
}

async function findingIn(model: Model, document: File, question: string): Promise<string> {
  const content = [
    await fileContent(document, { name: document.name }),
    { type: 'text' as const, text: `Quote what this document says about the question, with page numbers: ${question}` },
  ]
  const { status, text, error } = await new Agent({ model }).prompt({ role: 'user', content }).result
  return `${document.name}: ${status === 'completed' ? text : `not read (${error?.message ?? status})`}`
}
