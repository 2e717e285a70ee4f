import { createInterface } from 'node:readline/promises'
import type { ReadStream } from 'node:tty'
import type { TrustRequest } from '../../../../src/config.ts'
import { escapeInvisible } from '../../../../src/store.ts'
import { isYes } from '../questions/call-question.ts'

const words: Readonly<Record<TrustRequest['kind'], string>> = {
  script: 'run the script',
  server: 'start the server',
  plugin: 'run the plugin',
  file: 'read',
  workspace: 'work in',
  endpoint: 'send what is said and read to',
  media: 'fetch pictures and files from',
  variable: 'send, from the environment,',
}

/**
 * Asks the person at the terminal whether an agent file may do what it wants, and says why the answer is not remembered. Nobody there, or anything but a
 * yes, is a no.
 */
export async function askTrust(path: string, requests: readonly TrustRequest[], notRemembered: readonly string[]): Promise<boolean> {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY) return false
  const count = requests.length === 1 ? 'one thing' : `${requests.length} things`
  stderr.write(`${escapeInvisible(path)} wants ${count}:\n`)
  for (const [index, { kind, what, field }] of requests.entries())
    stderr.write(`  ${index + 1}. ${words[kind]} ${escapeInvisible(what)}  (${escapeInvisible(field)})\n`)
  stderr.write(`${summaryOf(requests)}\n`)
  if (notRemembered.length > 0) stderr.write('Your answer is not remembered, because nobody can know all that is loaded:\n')
  for (const why of notRemembered) stderr.write(`  - ${escapeInvisible(why)}\n`)
  await forgetTyped(stdin)
  const terminal = createInterface({ input: stdin, output: stderr, terminal: false })
  const left = new AbortController()
  // A terminal that goes away answers nothing.
  terminal.on('close', () => left.abort())
  try {
    const answer = await terminal.question('Trust this file, as it is now? [y/N] ', { signal: left.signal })
    return isYes(answer)
  } catch {
    stderr.write('\n')
    return false
  } finally {
    terminal.close()
  }
}

/** Says at the end of the list, where it is still seen, how much is agreed to, and how much of it runs programs. */
function summaryOf(requests: readonly TrustRequest[]): string {
  const dangerous = requests.filter(({ kind }) => kind === 'script' || kind === 'server' || kind === 'plugin').length
  const all = `${requests.length} ${requests.length === 1 ? 'entry' : 'entries'} in all`
  if (dangerous === 0) return `${all}, none of which runs a program.`
  return `${all}, ${dangerous} of them dangerous: ${dangerous === 1 ? 'it runs a program' : 'they run programs'} with all your rights.`
}

/** How long a terminal may take to hand over what was typed, in ms. */
const handOverMs = 50

/** Throws away what was typed before the question: the terminal keeps it, half a line too, and it would be the answer. */
async function forgetTyped(stdin: ReadStream): Promise<void> {
  const forget = () => undefined
  // Else only whole lines are handed over, and the half one stands before what is typed next.
  stdin.setRawMode(true)
  stdin.on('data', forget).resume()
  await new Promise((resolve) => setTimeout(resolve, handOverMs))
  // On a busy machine the time can be over before anything was read.
  await new Promise((resolve) => setImmediate(resolve))
  stdin.off('data', forget).pause()
  stdin.setRawMode(false)
}
