import { createInterface } from 'node:readline/promises'
import { ConfigError } from '../../../../src/index.ts'
import { escapeInvisible } from '../../../../src/store/index.ts'
import { type ListedSession, sessionLines } from '../assistant/latest-sessions.ts'

/** Asks the person at the terminal which session is meant; Enter is the first. Throws `ConfigError` for what is none of them. */
export async function chooseSession(sessions: readonly ListedSession[]): Promise<ListedSession> {
  const { stdin, stderr } = process
  for (const line of sessionLines(sessions)) stderr.write(`${escapeInvisible(line)}\n`)
  const terminal = createInterface({ input: stdin, output: stderr, terminal: false })
  const left = new AbortController()
  terminal.on('close', () => left.abort())
  try {
    const answer = (await terminal.question('Which one? [1] ', { signal: left.signal })).trim()
    const found = sessions[answer === '' ? 0 : Number(answer) - 1]
    if (found === undefined)
      throw new ConfigError('invalidOption', `There is no session ${JSON.stringify(answer.slice(0, 20))} in the list.`)
    return found
  } catch (error) {
    if (!left.signal.aborted) throw error
    throw new ConfigError('invalidOption', 'No session was chosen.')
  } finally {
    terminal.close()
  }
}
