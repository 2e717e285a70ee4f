import { ConfigError } from '../../../../src/index.ts'
import { utf8In } from '../../../../src/internal.ts'

/** What is piped in beyond this fits no model. */
const longestInput = 8 * 1024 * 1024

/** What was piped in. */
export interface PipedInput {
  text: string
  /** Whether some of it was no UTF-8, and stands as U+FFFD. */
  isDamaged: boolean
}

/** Reads standard input to its end. Throws `ConfigError` for more than 8 MiB. */
export async function pipedInput(input: AsyncIterable<Buffer | string>): Promise<PipedInput> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > longestInput) {
      throw new ConfigError(
        'invalidOption',
        'Standard input has more than 8 MiB, which is too much for a prompt. Put it into a file and name the file.',
      )
    }
    chunks.push(bytes)
  }
  const whole = Buffer.concat(chunks)
  const text = utf8In(whole)
  return text === undefined ? { text: new TextDecoder().decode(whole), isDamaged: true } : { text, isDamaged: false }
}

/** One prompt of what is asked and what was piped in. */
export function promptOf(asked: string | undefined, piped: string): string {
  if (asked === undefined) return piped
  return piped.trim() === '' ? asked : `${asked}\n\n<stdin>\n${piped.replace(/\n$/, '')}\n</stdin>`
}
