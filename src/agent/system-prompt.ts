import { aWorkspace } from '../base/argument-checks.ts'
import { headOf } from '../base/text/characters.ts'
import { ConfigError, WorkspaceError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { anything, aSignal, aText, either, kind, listOf, options as optionsOf, recordOf, required } from '../contract/shape/shape.ts'
import type { Workspace } from '../types/tool/workspace.ts'

/** A part of a system prompt: where it stands and how long it may be. */
export interface PromptBlock {
  name: string
  /** Smaller comes first; equal ones keep the order of the list. */
  order: number
  /** Characters (UTF-16 code units); what is longer is cut. */
  maxLength: number
}

/** The parts a system prompt is made of. Plain data: write your own. Source: docs/concepts/agent-and-run.md */
export interface SystemPromptStrategy {
  blocks: readonly PromptBlock[]
}

/** For agents with tools. Source: docs/concepts/agent-and-run.md */
export const agentPrompt: SystemPromptStrategy = {
  blocks: [
    { name: 'identity', order: 0, maxLength: 500 },
    { name: 'instructions', order: 1, maxLength: 2000 },
    { name: 'tools', order: 2, maxLength: 1000 },
    { name: 'constraints', order: 3, maxLength: 500 },
  ],
}

/** For agents with one task. Source: docs/concepts/agent-and-run.md */
export const minimalPrompt: SystemPromptStrategy = {
  blocks: [
    { name: 'identity', order: 0, maxLength: 1000 },
    { name: 'task', order: 1, maxLength: 3000 },
  ],
}

/** Where the texts of `file:` blocks come from. */
export interface ComposeOptions {
  workspace?: Workspace
  /** Stops reading; owned by the caller. */
  signal?: AbortSignal
}

const aStrategy = optionsOf<SystemPromptStrategy>({
  blocks: required(listOf(optionsOf<PromptBlock>({ name: required(aText), order: required(anything), maxLength: required(anything) }))),
})
const composeOptions = optionsOf<ComposeOptions>({ workspace: aWorkspace, signal: aSignal })
const absent = kind('left out', (value) => value === undefined)

const filePrefix = 'file:'

/**
 * One system prompt from the texts of its blocks.
 *
 * **Contract**
 * - Blocks come in their order, joined by an empty line; one without text, or with nothing but white space, is left out.
 * - A text `file:path` stands for that file of `options.workspace`, read when this is called. Only the beginning of a long file is read.
 * - Each text is cut to the `maxLength` of its block, never inside a surrogate pair.
 * - Rejects with `ConfigError` `invalidOption` for a name the strategy does not have, for a block that cannot work, and for a file without a
 *   workspace; with the `WorkspaceError` of a file that cannot be read, naming the block; with the signal's reason.
 *
 * @example
 * ```ts
 * const systemPrompt = await composeSystemPrompt(agentPrompt, { identity: 'You are a reviewer.', instructions: 'file:review.md' }, { workspace })
 * ```
 * Source: docs/concepts/agent-and-run.md
 */
export async function composeSystemPrompt(
  strategy: SystemPromptStrategy,
  content: Readonly<Record<string, string>>,
  options: ComposeOptions = {},
): Promise<string> {
  checkOptions(strategy, aStrategy, 'strategy')
  checkOptions(content, recordOf(either(aText, absent)), 'content')
  checkOptions(options, composeOptions)
  checkBlocks(strategy)
  checkNames(strategy, content)
  const parts: string[] = []
  for (const block of strategy.blocks.toSorted((a, b) => a.order - b.order)) {
    const text = ownOf(content, block.name)
    if (text === undefined) continue
    const whole = text.startsWith(filePrefix) ? await readBlock(block, text.slice(filePrefix.length).trim(), options) : text
    const part = headOf(whole, block.maxLength)
    if (part.trim() !== '') parts.push(part)
  }
  return parts.join('\n\n')
}

function checkBlocks({ blocks }: SystemPromptStrategy): void {
  const seen = new Set<string>()
  for (const { name, order, maxLength } of blocks) {
    if (seen.has(name)) throw new ConfigError('invalidOption', `Two blocks are called "${name}"; block names must be unique.`)
    seen.add(name)
    if (!Number.isFinite(order))
      throw new ConfigError('invalidOption', `order of block "${name}" is ${String(order)}; it must be a number.`)
    if (Number.isInteger(maxLength) && maxLength > 0) continue
    throw new ConfigError('invalidOption', `maxLength of block "${name}" is ${String(maxLength)}; it must be a whole number from 1.`)
  }
}

function checkNames({ blocks }: SystemPromptStrategy, content: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(content)) {
    if (blocks.some((block) => block.name === name)) continue
    const known = blocks.map((block) => `"${block.name}"`).join(', ')
    throw new ConfigError('invalidOption', `The strategy has no block "${name}". It has: ${known || 'none'}.`)
  }
}

async function readBlock(block: PromptBlock, path: string, { workspace, signal }: ComposeOptions): Promise<string> {
  if (workspace === undefined) {
    const advice = 'Pass a workspace, or the text itself.'
    throw new ConfigError(
      'invalidOption',
      `The block "${block.name}" is the file ${JSON.stringify(path)}, and there is no workspace. ${advice}`,
    )
  }
  // A code unit takes at most three bytes; then there may be a byte order mark, and the other half of the last character.
  const end = 3 * block.maxLength + 4
  try {
    return new TextDecoder().decode(await workspace.read(path, signal === undefined ? { end } : { end, signal }))
  } catch (error) {
    if (!WorkspaceError.isInstance(error)) throw error
    throw new WorkspaceError(error.code, `The block "${block.name}" cannot be read: ${error.message}`, { cause: error })
  }
}
