import { Agent, type AgentTool, type Model } from 'phi-core'
import type { Journal, JournalRecord } from 'phi-core/session'

/** Writes one line per record before the run continues. If `write` rejects, the run ends before its next side effect. */
export function lineJournal(write: (line: string) => Promise<void>): Journal {
  return { append: (record: JournalRecord) => write(JSON.stringify(record)) }
}

export async function recordedRun(model: Model, tools: AgentTool[], prompt: string): Promise<string[]> {
  const lines: string[] = []
  const journal = lineJournal(async (line) => {
    lines.push(line)
  })
  await new Agent({ model, tools, journal }).prompt(prompt).result
  return lines.map((line) => (JSON.parse(line) as JournalRecord).entry.type)
}
