import { Field } from '../../settings/fields.tsx'
import { mostTextChars, mostTools, type ToolSnippet } from './snippets.ts'

interface OwnToolsTabProps {
  snippets: readonly ToolSnippet[]
  /** Whether the current agents have tools that the user wrote. */
  isUsed: boolean
  onChange: (snippets: readonly ToolSnippet[]) => void
}

const example: ToolSnippet = {
  name: 'add',
  description: 'Adds two numbers.',
  schema: '{ "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } }, "required": ["a", "b"] }',
  code: 'return args.a + args.b',
}

/** Lets the user write tools. */
export function OwnToolsTab({ snippets, isUsed, onChange }: OwnToolsTabProps) {
  const change = (at: number, part: Partial<ToolSnippet>) =>
    onChange(snippets.map((snippet, each) => (each === at ? { ...snippet, ...part } : snippet)))
  return (
    <>
      <p class="settings-note">
        The code runs in a worker of a sandboxed frame: without network, without your keys, for at most 10 seconds. Each call asks you
        first. The tools are stored in this browser; <em>View code</em> omits them.
      </p>
      {!isUsed && <p class="settings-note">Scripted models and servers have their own tools. The other models in this tab use these.</p>}
      {snippets.map((snippet, at) => (
        <fieldset key={at} class="choice">
          <legend class="field-label">Tool {at + 1}</legend>
          <SnippetFields snippet={snippet} onChange={(part) => change(at, part)} />
          <button type="button" onClick={() => onChange(snippets.filter((_, each) => each !== at))}>
            Remove tool {at + 1}
          </button>
        </fieldset>
      ))}
      <button type="button" disabled={snippets.length >= mostTools} onClick={() => onChange([...snippets, example])}>
        Add a tool
      </button>
    </>
  )
}

function SnippetFields({ snippet, onChange }: { snippet: ToolSnippet; onChange: (part: Partial<ToolSnippet>) => void }) {
  const { name, description, schema, code } = snippet
  return (
    <>
      <Field label="Name">
        <input type="text" maxLength={64} value={name} onInput={({ currentTarget }) => onChange({ name: currentTarget.value })} />
      </Field>
      <Field label="Description">
        <input
          type="text"
          maxLength={mostTextChars}
          value={description}
          onInput={({ currentTarget }) => onChange({ description: currentTarget.value })}
        />
      </Field>
      <Field label="Arguments, a JSON Schema">
        <textarea
          rows={3}
          spellcheck={false}
          maxLength={mostTextChars}
          value={schema}
          onInput={({ currentTarget }) => onChange({ schema: currentTarget.value })}
        />
      </Field>
      <Field label="Code" hint="The body of an async function with the parameter args. It must return JSON.">
        <textarea
          rows={5}
          spellcheck={false}
          maxLength={mostTextChars}
          value={code}
          onInput={({ currentTarget }) => onChange({ code: currentTarget.value })}
        />
      </Field>
    </>
  )
}
