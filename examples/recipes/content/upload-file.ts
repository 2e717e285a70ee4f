import { Agent, type Model } from 'phi-core'
import { uploadFile } from 'phi-core/models'

/** Uploads a long report once, then asks about it any number of times: each request contains its id instead of its bytes. */
export async function askAboutReport(model: Model, report: Blob, questions: readonly string[]): Promise<string[]> {
  const file = await uploadFile(model, report, { name: 'report.pdf', expiresAfter: 86_400 })
  const agent = new Agent({ model, systemPrompt: 'Answer from the report.' })
  const answers: string[] = []
  for (const [at, question] of questions.entries()) {
    const content = [...(at === 0 ? [file] : []), { type: 'text' as const, text: question }]
    answers.push(await agent.prompt({ role: 'user', content }).text())
  }
  return answers
}
