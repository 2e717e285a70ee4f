import { aWorkspace } from '../base/argument-checks.ts'
import { headOf } from '../base/text/characters.ts'
import { ConfigError, WorkspaceError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { anything, aSignal, aText, either, kind, listOf, options as optionsOf, recordOf, required } from '../contract/shape/shape.ts'
import type { Workspace } from '../types/tool/workspace.ts'

/** A block of a system prompt: position and maximum length. */
export interface PromptBlock {
  name: string
  /** Sort key, ascending. Blocks with equal values keep list order. */
  order: number
  /** Maximum characters (UTF-16 code units). The rest is truncated. */
  maxLength: number
}

/** Blocks of a system prompt, as plain data. Source: docs/concepts/agent-and-run.md */
export interface SystemPromptStrategy {
  blocks: readonly PromptBlock[]
}

/** Block layout for agents with tools. Source: docs/concepts/agent-and-run.md */
export const agentPrompt: SystemPromptStrategy = {
  blocks: [
    { name: 'identity', order: 0, maxLength: 500 },
    { name: 'instructions', order: 1, maxLength: 2000 },
    { name: 'tools', order: 2, maxLength: 1000 },
    { name: 'constraints', order: 3, maxLength: 500 },
  ],
}

/** Block layout for agents with a single task. Source: docs/concepts/agent-and-run.md */
export const minimalPrompt: SystemPromptStrategy = {
  blocks: [
    { name: 'identity', order: 0, maxLength: 1000 },
    { name: 'task', order: 1, maxLength: 3000 },
  ],
}

/** Options for composing a system prompt. */
export interface ComposeOptions {
  workspace?: Workspace
  /** Aborts file reads. The caller owns the signal. */
  signal?: AbortSignal
}

const aStrategy = optionsOf<SystemPromptStrategy>({
  blocks: required(listOf(optionsOf<PromptBlock>({ name: required(aText), order: required(anything), maxLength: required(anything) }))),
})
const composeOptions = optionsOf<ComposeOptions>({ workspace: aWorkspace, signal: aSignal })
const absent = kind('left out', (value) => value === undefined)

const filePrefix = 'file:'

/**
 * Composes a system prompt from the texts of its blocks.
 *
 * **Contract**
 * - Joins the blocks with empty lines, in order. Omits blank blocks.
 * - Replaces a text `file:path` with the file's content from `options.workspace`, read once per call. Reads only the beginning of a long
 *   file.
 * - Truncates each text to its block's `maxLength`, never inside a surrogate pair.
 * - Rejects with `ConfigError` `invalidOption` for an unknown block name, an invalid block, or a `file:` text without a workspace. If a
 *   file cannot be read, rejects with a `WorkspaceError` that names the block. On abort, rejects with the signal's reason.
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
    if (seen.has(name)) throw new ConfigError('invalidOption', `Two blocks are named "${name}". Give each block a unique name.`)
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
    const advice = 'Pass a workspace or the text.'
    throw new ConfigError(
      'invalidOption',
      `Block "${block.name}" reads the file ${JSON.stringify(path)}, but no workspace is set. ${advice}`,
    )
  }
  // A UTF-16 code unit takes up to three bytes in UTF-8. Four more bytes cover a byte order mark and a split surrogate pair.
  const end = 3 * block.maxLength + 4
  try {
    return new TextDecoder().decode(await workspace.read(path, signal === undefined ? { end } : { end, signal }))
  } catch (error) {
    if (!WorkspaceError.isInstance(error)) throw error
    throw new WorkspaceError(error.code, `Cannot read block "${block.name}": ${error.message}`, { cause: error })
  }
}
