import { thinkingLevel } from '../../contract/model/request-settings.ts'
import type { FieldsOf } from '../../contract/shape/shape.ts'
import { defaultMaxResultChars, trustInPage } from '../../tools/client-tool.ts'
import { flag, jsonTable, number, record, required, text, texts, whole, word } from './key-table.ts'

export const clientTool = {
  name: required(text('The name by which the model calls it.')),
  description: required(text('What it does and when to use it, for the model.')),
  parameters: required(jsonTable('Its arguments, as a JSON Schema of an object.')),
  output: jsonTable('A JSON Schema that a result must fit.', { fallback: 'any JSON' }),
  needs_approval: flag('Whether a person is asked before the page is.', { fallback: '`false`' }),
  timeout_secs: number(0.001, 'Seconds that a page has for its result.', { fallback: 'as long as an approval may take' }),
  trust: word(trustInPage.words, 'Whether the model is told that results are what a page says, and no instructions.', {
    fallback: '`untrusted`',
  }),
  max_result_chars: whole(1, 'Characters that a result may have.', { fallback: defaultMaxResultChars }),
}

/** `[[client_tools.instances]]`: a tool that a page runs. */
export interface ClientToolSection extends FieldsOf<typeof clientTool> {}

export const choices = {
  models: record('Models by the names that prompts call them: `{{provider.id}}`, or the name of a provider.'),
  thinking: texts(`Levels of thinking: ${thinkingLevel.words.map((each) => `\`${each}\``).join(', ')}.`, { fallback: 'all' }),
  tools: texts('Names of tools that a prompt switches on for itself. They are not in `[tools] enabled`.', { fallback: 'none' }),
  client_tools: texts('Names of tools that a page may bring along and run.', { fallback: 'none' }),
}

/** `[choices]`: what prompts may choose by name, also those of a client far away. */
export interface ChoicesSection extends FieldsOf<typeof choices> {}
