import { join } from 'node:path'
import type { SessionSummary } from '../../../src/index.ts'
import { countingFiles, isAbsent, type ReadFile, readFiles, withEpochs } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'
import { sessionIdOf } from './folder-name.ts'

/** The first record fits; where it does not, its file is read whole. */
const headBytes = 4096
const foldersAtOnce = 32

/**
 * What is stored below `root`, the most recently written first; `written` decides between files of the same time, its last id is the newest.
 * Reads the start of each file only.
 */
export async function listSessions(operations: FileOperations, root: string, written: readonly string[]): Promise<SessionSummary[]> {
  const ids = (await namesIn(operations, root)).flatMap((name) => {
    const sessionId = sessionIdOf(name)
    return sessionId === undefined ? [] : [{ sessionId, folder: join(root, name) }]
  })
  const summaries: SessionSummary[] = []
  for (let at = 0; at < ids.length; at += foldersAtOnce) {
    const batch = ids.slice(at, at + foldersAtOnce).map(({ sessionId, folder }) => summaryOf(operations, sessionId, folder))
    for (const summary of await Promise.all(batch)) if (summary !== undefined) summaries.push(summary)
  }
  const order = new Map(written.map((sessionId, index) => [sessionId, index]))
  const rank = ({ sessionId }: SessionSummary) => order.get(sessionId) ?? -1
  return summaries.sort((a, b) => b.lastActiveAt - a.lastActiveAt || rank(b) - rank(a))
}

async function namesIn(operations: FileOperations, root: string): Promise<string[]> {
  try {
    return await operations.list(root)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** `undefined` where nothing was recorded: the session was deleted, or only opened. */
function summaryOf(operations: FileOperations, sessionId: string, folder: string): Promise<SessionSummary | undefined> {
  return withEpochs(operations, folder, async (files) => {
    const heads = await readFiles(operations, folder, countingFiles(files), headBytes)
    const recorded = heads.filter(({ text }) => text !== '')
    const [first, last] = [recorded[0], recorded.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const lastActiveAt = await operations.modified(join(folder, last.name))
    const { at, agentId } = readStart(await firstLine(operations, folder, first))
    return { sessionId, agentId: agentId ?? '', createdAt: at ?? lastActiveAt, lastActiveAt }
  })
}

async function firstLine(operations: FileOperations, folder: string, { name, text }: ReadFile): Promise<string> {
  const [line = ''] = (text.includes('\n') ? text : await operations.read(join(folder, name))).split('\n', 1)
  return line
}

/** What the first record says of its session; nothing where it is damaged. */
function readStart(line: string): { at?: number; agentId?: string } {
  try {
    const { at, body } = JSON.parse(line) as { at?: unknown; body?: { agentId?: unknown } | null }
    return {
      ...(typeof at === 'number' ? { at } : {}),
      ...(typeof body?.agentId === 'string' ? { agentId: body.agentId } : {}),
    }
  } catch {
    return {}
  }
}
