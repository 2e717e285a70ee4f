import { fieldOf, type Path } from '../config-error.ts'
import type { TrustRequest } from '../config-host.ts'
import { isKeyVariable, isVariable, variableUses } from '../read/env.ts'
import { serversIn } from '../schema/check.ts'
import type { ModelSection } from '../schema/model-sections.ts'
import type { AgentConfig } from '../schema/sections.ts'

/** What of a model chooses the service: one variable alone is the choice of whoever set it. */
const choices = ['api_key', 'base_url', 'api', 'provider', 'name', 'resource', 'project', 'location', 'region', 'model']

/** Sections whose values stay in this program, or that are asked about whole. A model that writes summaries is told what they keep. */
const unsent =
  /^(default_workspace|session|tools\.(enabled|tool_strategy)|(compaction|context)(?!.*\.focus_message$)|execution|skills|choices|callbacks|hooks)\b|(^|\.)workspace$|\.enabled$/

/**
 * Every place where a file would send what it takes from the environment, with its variables: prompts, descriptions, headers. Not the keys and the
 * addresses that are one variable alone, which whoever set them chose, and not programs, which are asked about with all they are given.
 */
export function sentVariables(config: AgentConfig): TrustRequest[] {
  const own = chosenFields(config)
  const programs = serversIn(config).flatMap(([{ command, enabled }, path]) =>
    command !== undefined || enabled === false ? [fieldOf(path)] : [],
  )
  const found = new Map<string, Set<string>>()
  for (const { name, path } of variableUses(config)) {
    const field = fieldOf(path)
    if (unsent.test(field) || own.has(field) || programs.some((program) => field.startsWith(`${program}.`))) continue
    found.set(field, (found.get(field) ?? new Set()).add(name))
  }
  return [...found].map(([field, names]) => ({ kind: 'variable', field, what: [...names].map((name) => `\${${name}}`).join(', ') }))
}

/** Keys and choices that are one variable. */
function chosenFields({ provider, ...config }: AgentConfig): Set<string> {
  const { instances = [], ...base } = provider ?? {}
  const sections: [ModelSection, Path][] = [
    [base, ['provider']],
    ...instances.map((each, at): [ModelSection, Path] => [each, ['provider', 'instances', at]]),
  ]
  const fields = sections.flatMap(([section, path]) => [
    ...choices.filter((name) => isOwn(Reflect.get(section, name))).map((name) => fieldOf([...path, name])),
    ...ownHeaders(section.headers).map((name) => fieldOf([...path, 'headers', name])),
  ])
  const servers = serversIn(config).flatMap(([{ url, headers }, path]) => [
    ...(isOwn(url) ? [fieldOf([...path, 'url'])] : []),
    ...ownHeaders(headers).map((name) => fieldOf([...path, 'headers', name])),
  ])
  return new Set([...fields, ...servers])
}

/** Headers that carry a key and nothing else. */
function ownHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.keys(headers).filter((name) => /auth|key|token/i.test(name) && isKeyVariable(headers[name] ?? ''))
}

function isOwn(value: unknown): boolean {
  return typeof value === 'string' && isVariable(value)
}
