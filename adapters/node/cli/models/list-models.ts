import type { Screen } from '../terminal/screen.ts'
import { knownModels } from './known-models.ts'

/** `phi models`: writes the models that can be asked here to standard output, a line for each. Resolves with the exit code: 1 where there is none. */
export async function listModels(filter: string | undefined, screen: Screen): Promise<number> {
  const models = await knownModels(filter)
  const { plain } = screen.paintData
  for (const { name, facts } of models) screen.data(plain(`${name.padEnd(44)} ${facts}\n`))
  if (models.length > 0) return 0
  screen.say(
    'yellow',
    filter === undefined
      ? 'No key is set and no local server answers; phi doctor says more.'
      : `No model here has "${filter}" in its name.`,
  )
  return 1
}
