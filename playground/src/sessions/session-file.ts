import type { Session } from '../../../src/session.ts'
import type { ExportFormat, SessionFile } from '../state/backend/chat-port.ts'
import { misfitsIn } from '../state/log/answer-fit.ts'

interface Source {
  sessionId: string
  format: ExportFormat
  /** The whole log as text. */
  log: () => Promise<string>
  read: () => Promise<Session>
}

/** Returns a conversation as a file. The code for each format is loaded only when needed. */
export async function sessionFile({ sessionId, format, log, read }: Source): Promise<SessionFile> {
  if (format === 'phi') return { name: `${sessionId}.phi.jsonl`, type: 'application/x-ndjson', text: await log() }
  if (format === 'markdown') {
    return { name: `${sessionId}.md`, type: 'text/markdown', text: await asMarkdown(read) }
  }
  if (format === 'page') {
    const { sessionPage } = await import('../tree/session-page.ts')
    return { name: `${sessionId}.html`, type: 'text/html', text: sessionPage(await asMarkdown(read), await log()) }
  }
  // Load the schemas, and zod with them, only on demand.
  const { sessionToSpecJson } = await import('../../../src/rust.ts')
  return { name: `${sessionId}.json`, type: 'application/json', text: sessionToSpecJson(await read()) }
}

async function asMarkdown(read: Source['read']): Promise<string> {
  const { sessionMarkdown } = await import('../tree/session-markdown.ts')
  const session = await read()
  return sessionMarkdown(session, await misfitsIn(session))
}
