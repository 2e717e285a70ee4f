import { agentPrompt, composeSystemPrompt, minimalPrompt, type PromptBlock, type SystemPromptStrategy } from '../../agent/system-prompt.ts'
import { ConfigError, errorText } from '../../contract/errors.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { memoryWorkspace } from '../../workspace/memory-workspace.ts'
import { fieldError, fieldOf, needs, type Path } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import { parseReference, resolveName } from '../references.ts'
import { maxPrompt } from '../schema/agent-sections.ts'
import { type Build, filePathOf, isOutside } from './build.ts'

/** A prompt with its path in the file. */
export interface PromptText {
  text: string
  path: Path
}

const builtIn: ReadonlyMap<string, SystemPromptStrategy> = new Map([
  ['agent', agentPrompt],
  ['minimal', minimalPrompt],
])

/** Creates the system prompt from literal text, a file, or blocks. */
export async function systemPromptOf(build: Build, { text, path }: PromptText, place: AgentPlace): Promise<string> {
  const reference = parseReference(text)
  if (reference === undefined) return composed(build, only('system_prompt'), { system_prompt: text }, place, path)
  const { entity } = resolveName(build.entities, text, 'system_prompt', path)
  const section = build.config.system_prompt?.instances?.[Number(entity.path.at(-1))]
  const { id: _, description: __, type, ...blocks } = section ?? { id: '' }
  const content = Object.fromEntries(Object.entries(blocks).filter(([, block]) => block !== undefined)) as Record<string, string> // All other keys of a prompt contain text.
  const strategy = type === undefined ? inOrder(Object.keys(content)) : strategyOf(build, type, [...entity.path, 'type'])
  return composed(build, strategy, content, place, entity.path)
}

function only(name: string): SystemPromptStrategy {
  return inOrder([name])
}

function inOrder(names: readonly string[]): SystemPromptStrategy {
  return { blocks: names.map((name, order) => ({ name, order, maxLength: maxPrompt })) }
}

function strategyOf({ config, entities }: Build, type: string, path: Path): SystemPromptStrategy {
  const reference = parseReference(type)
  const name = reference === undefined ? type : reference === 'malformed' ? '' : reference.name
  const isDefined = entities.some((each) => each.namespace === 'system_prompt_strategy' && each.name === name)
  const known = isDefined ? undefined : builtIn.get(name)
  if (known !== undefined) return known
  const { entity } = resolveName(entities, type, 'system_prompt_strategy', path)
  return { blocks: blocksOf(config.system_prompt_strategy?.instances?.[Number(entity.path.at(-1))]?.blocks ?? []) }
}

function blocksOf(blocks: readonly { name: string; order?: number; max_length?: number }[]): PromptBlock[] {
  return blocks.map(({ name, order = 0, max_length: maxLength = maxPrompt }) => ({ name, order, maxLength }))
}

async function composed(
  build: Build,
  strategy: SystemPromptStrategy,
  content: Record<string, string>,
  place: AgentPlace,
  path: Path,
): Promise<string> {
  const files = Object.values(content).some((text) => filePathOf(text) !== undefined)
  const workspace = files ? promptFiles(build, place, path) : undefined
  try {
    return await composeSystemPrompt(strategy, content, workspace === undefined ? {} : { workspace })
  } catch (error) {
    if (ConfigError.isInstance(error) && error.field !== undefined) throw error
    const code = !ConfigError.isInstance(error) ? 'io' : error.code === 'invalidOption' ? 'invalidField' : error.code
    throw fieldError(code, path, `${fieldOf(path)}: ${errorText(error)}`, error)
  }
}

/** Reads prompt files from the workspace, and from outside the workspace where trust was already granted. */
function promptFiles({ host }: Build, place: AgentPlace, path: Path): Workspace {
  const outside = async (file: string): Promise<Uint8Array> => {
    if (host.readFile === undefined) throw needs(path, `reads ${JSON.stringify(file)}, outside of the workspace`, 'readFile')
    const isAbsolute = /^([/~\\]|[a-z]:)/i.test(file)
    return new TextEncoder().encode(await host.readFile(isAbsolute ? file : `${place.path}/${file}`))
  }
  const inside = async (file: string, end: number): Promise<Uint8Array> => {
    if (place.workspace === undefined) throw needs(path, `reads ${JSON.stringify(file)}`, 'a workspace')
    return place.workspace.read(file, { end })
  }
  return {
    ...memoryWorkspace(),
    async read(file, { end = Number.POSITIVE_INFINITY } = {}) {
      const bytes = isOutside(file) ? await outside(file) : await inside(file, Math.min(end, maxPrompt + 1))
      if (end > maxPrompt && bytes.length > maxPrompt) {
        throw fieldError('invalidField', path, `${fieldOf(path)}: the file ${JSON.stringify(file)} is longer than ${maxPrompt} bytes.`)
      }
      return bytes.slice(0, end)
    },
  }
}
