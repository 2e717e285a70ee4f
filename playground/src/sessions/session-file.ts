import type { Session } from '../../../src/session/index.ts'
import type { ExportFormat, SessionFile } from '../state/backend/chat-port.ts'

interface Source {
  sessionId: string
  format: ExportFormat
  /** The whole log as text. */
  log: () => Promise<string>
  read: () => Promise<Session>
}

/** A conversation as a file; what a format needs is loaded for it alone. */
export async function sessionFile({ sessionId, format, log, read }: Source): Promise<SessionFile> {
  if (format === 'phi') return { name: `${sessionId}.phi.jsonl`, type: 'application/x-ndjson', text: await log() }
  if (format === 'markdown') {
    const { sessionMarkdown } = await import('../tree/session-markdown.ts')
    return { name: `${sessionId}.md`, type: 'text/markdown', text: sessionMarkdown(await read()) }
  }
  if (format === 'page') {
    const [{ sessionMarkdown }, { sessionPage }] = await Promise.all([
      import('../tree/session-markdown.ts'),
      import('../tree/session-page.ts'),
    ])
    return { name: `${sessionId}.html`, type: 'text/html', text: sessionPage(sessionMarkdown(await read()), await log()) }
  }
  // The schemas, and zod with them, only for who wants them.
  const { sessionToSpecJson } = await import('../../../src/rust/index.ts')
  return { name: `${sessionId}.json`, type: 'application/json', text: sessionToSpecJson(await read()) }
}
