import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/index.ts'
import { parseSkill, SkillError } from '../../src/tools.ts'

const file = (...frontmatter: string[]) => `---\n${frontmatter.join('\n')}\n---\nDo it.\n`
const git = file('name: git', 'description: Commits.')
const warned = async (text: string) => (await parseSkill(text)).warnings.map(({ code, message }) => `${code}: ${message}`)

async function refusal(text: string): Promise<SkillError> {
  const error: unknown = await parseSkill(text).catch((thrown) => thrown)
  if (!SkillError.isInstance(error)) throw error
  return error
}

describe('parseSkill', () => {
  it('reads all fields of the standard, and keeps the others as they stand', async () => {
    const text = file(
      'name: pdf',
      'description: >-',
      '  Reads PDF files: text, tables.',
      '  Use it for scans.',
      'license: MIT',
      'compatibility: Needs poppler',
      'metadata:',
      '  author: ann',
      '  version: 1.0',
      'allowed-tools: Bash(git log:*), Read Edit',
      'author: bob',
    )
    expect(await parseSkill(text)).toEqual({
      name: 'pdf',
      description: 'Reads PDF files: text, tables. Use it for scans.',
      license: 'MIT',
      compatibility: 'Needs poppler',
      metadata: { author: 'ann', version: '1.0' },
      allowedTools: ['Bash(git log:*)', 'Read', 'Edit'],
      frontmatter: expect.objectContaining({ author: 'bob', 'allowed-tools': 'Bash(git log:*), Read Edit' }),
      body: 'Do it.',
      warnings: [{ code: 'unknownField', message: expect.stringContaining('"author"') }],
    })
  })

  it.each([
    ['CRLF', git.replaceAll('\n', '\r\n')],
    ['CR', git.replaceAll('\n', '\r')],
    ['spaces after the fences', git.replaceAll('---', '--- \t')],
    ['no line break at the end', '---\nname: git\ndescription: Commits.\n---'],
    ['quotes', file('name: "git"', "description: 'Commits.'")],
    ['comments', file('# ours', 'name: git # the tool', 'description: Commits.')],
  ])('takes %s', async (_, text) => {
    expect(await parseSkill(text)).toMatchObject({ name: 'git', description: 'Commits.', warnings: [] })
  })

  it.each([
    ['a byte order mark', `\ufeff${git}`],
    ['... as the second fence', '---\nname: git\ndescription: Commits.\n...\n'],
    ['a field twice', file('name: x', 'name: git', 'description: Commits.')],
    ['an anchor', file('name: git', 'description: &d Commits.')],
    ['brackets', file('{name: git, description: Commits.}')],
  ])('takes %s, and says that others may not', async (_, text) => {
    expect(await parseSkill(text)).toMatchObject({ name: 'git', description: 'Commits.' })
    expect(await warned(text)).toEqual([expect.stringMatching(/^notPortable: Other readers/)])
  })

  it.each([
    'Use when: the user asks about PDFs',
    'Deploys. Note: needs "kubectl" & more # not a comment?',
    '[Beta] formats code',
    '[Beta]',
    '*important* things',
    '@mentions and `code`',
    '`code` and more',
    '& more',
    '!important things',
    '% of all',
    '> 5 files',
    '| a pipe',
    '{braces} and more',
    '"Quoted" and more',
    "'tis: so",
    '- a dash',
    '? a question',
    ', a comma',
    '\\ "both": of them',
  ])('takes the description %j as it stands, and says that others may not', async (description) => {
    const text = file('name: odd', `description: ${description}`, 'license: MIT')
    expect(await parseSkill(text)).toMatchObject({ name: 'odd', description, license: 'MIT', frontmatter: { description } })
    expect(await warned(text)).toEqual([expect.stringMatching(/^notPortable: .*description is no valid YAML.*in quotes/)])
    expect(await parseSkill(text.replaceAll('\n', '\r\n'))).toMatchObject({ description })
  })

  it('joins the lines of a description that is no valid YAML', async () => {
    const text = file('description: Use when: the user', '  asks for a report: now', '', '  Or later', 'name: odd')
    expect(await parseSkill(text)).toMatchObject({ name: 'odd', description: 'Use when: the user asks for a report: now\nOr later' })
  })

  it('takes no other field as it stands', async () => {
    for (const field of ['name: [a', 'compatibility: - b', 'metadata: a: b'])
      expect(await refusal(file(`description: Use when: now`, field))).toMatchObject({ code: 'invalidYaml' })
  })

  it.each([
    ['', 'noFrontmatter', /does not begin with a line ---/],
    ['# Title', 'noFrontmatter', /does not begin/],
    ['\n---\nname: a\n---\n', 'noFrontmatter', /does not begin/],
    ['----\nname: a\n----\n', 'noFrontmatter', /does not begin/],
    ['---\nname: a\n', 'noFrontmatter', /no second line ---/],
    ['---', 'noFrontmatter', /does not begin/],
    ['---\n---\n', 'invalidYaml', /no mapping/],
    ['---\nname\n---\n', 'invalidYaml', /no mapping/],
    ['---\n- a\n---\n', 'invalidYaml', /no mapping/],
    [file('name: [a'), 'invalidYaml', /line 2, column/],
    [file('name: a', 'description: Use this: now', 'license: [b'), 'invalidYaml', /line 4, column/],
    [file('name: a', 'metadata:', '\tb: c'), 'invalidYaml', /line 4, column 1/],
    [file('description: d'), 'missingName', /name is missing/],
    [file('name:', 'description: d'), 'missingName', /name is empty/],
    [file('name: " "', 'description: d'), 'missingName', /name is empty/],
    [file('name: [a]', 'description: d'), 'missingName', /name is no text/],
    [file('name: a'), 'missingDescription', /description is missing/],
    [file('name: a', 'description: {a: b}'), 'missingDescription', /description is no text/],
  ])('refuses %j', async (text, code, message) => {
    expect(await refusal(text)).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it.each([
    ['Git', /lower case/],
    ['my_skill', /letters, digits and hyphens only/],
    ['a b', /letters, digits and hyphens only/],
    ['../evil', /letters, digits and hyphens only/],
    ['-a', /begin or end/],
    ['a-', /begin or end/],
    ['a--b', /two hyphens/],
    ['a'.repeat(65), /tooLong: name has 65 characters; at most 64/],
    ['"a\\u202eb"', /"a\\u\{202e\}b" may have/],
    ['"a\\u0007b"', /may have letters/],
  ])('says what is wrong with the name %j, and takes it', async (name, message) => {
    expect(await warned(file(`name: ${name}`, 'description: d'))).toEqual([expect.stringMatching(message)])
  })

  it.each(['a', '123', 'тест-навык', 'cafe\u0301', '漢字', 'a'.repeat(64)])('the name %s is good', async (name) => {
    expect(await warned(file(`name: ${name}`, 'description: d'))).toEqual([])
  })

  it('counts characters, not code units', async () => {
    expect(await warned(file('name: a', `description: ${'😀'.repeat(1024)}`, `compatibility: ${'😀'.repeat(500)}`))).toEqual([])
    expect(await warned(file('name: a', `description: ${'😀'.repeat(1025)}`, `compatibility: ${'😀'.repeat(501)}`))).toEqual([
      'tooLong: description has 1025 characters; at most 1024 are allowed.',
      'tooLong: compatibility has 501 characters; at most 500 are allowed.',
    ])
  })

  it('leaves out, with a warning, what has another form than it should', async () => {
    const text = file('name: a', 'description: d', 'license: [MIT]', 'metadata: text', 'allowed-tools: {Read: true}', 'compatibility: - b')
    const odd = file('name: a', 'description: d', 'license:', '  - MIT', 'metadata: text', 'allowed-tools:', '  Read: yes')
    expect(await refusal(text)).toMatchObject({ code: 'invalidYaml' })
    const { frontmatter: _, warnings, ...skill } = await parseSkill(odd)
    expect(skill).toEqual({ name: 'a', description: 'd', body: 'Do it.' })
    expect(warnings.map(({ message }) => message)).toEqual([
      'license is not a text, and is left out.',
      'metadata is not a mapping, and is left out.',
      'allowed-tools is not a text, or a list of texts, and is left out.',
    ])
  })

  it('takes a list of tools only where all are names', async () => {
    const withTools = (...lines: string[]) => parseSkill(file('name: a', 'description: d', 'allowed-tools:', ...lines))
    expect((await withTools('  - Bash(git log:*)', '  - Read')).allowedTools).toEqual(['Bash(git log:*)', 'Read'])
    expect((await withTools('  - Read', '  - [Edit]')).allowedTools).toBeUndefined()
    expect((await parseSkill(file('name: a', 'description: d', 'allowed-tools:'))).allowedTools).toEqual([])
  })

  it('has no field that is that of every object', async () => {
    const { frontmatter, metadata } = await parseSkill(
      file('name: a', 'description: d', '__proto__: {license: MIT}', 'constructor: c', 'metadata:', '  __proto__:', '    polluted: yes'),
    )
    expect(Object.getPrototypeOf(frontmatter)).toBe(Object.prototype)
    expect(Object.hasOwn(frontmatter, '__proto__')).toBe(true)
    expect(Reflect.get(metadata ?? {}, 'polluted')).toBeUndefined()
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(JSON.parse(JSON.stringify(frontmatter))).toEqual(frontmatter)
    expect(await refusal(file('__proto__: {name: a, description: b}'))).toMatchObject({ code: 'missingName' })
  })

  it.each([
    [
      'aliases of aliases',
      `name: a\ndescription: d\n${Array.from({ length: 9 }, (_, i) => `a${i}: &a${i} [${Array(9).fill(i === 0 ? 'x' : `*a${i - 1}`)}]`).join('\n')}`,
    ],
    ['an alias of itself', 'name: a\ndescription: d\nmetadata: &m [*m]'],
    ['lists in lists', `name: a\ndescription: d\nmetadata: ${'['.repeat(7000)}`],
    ['lists in lists that end', `name: a\ndescription: d\nmetadata: ${'['.repeat(30)}${']'.repeat(30)}`],
    ['mappings in mappings', `name: a\ndescription: d\nmetadata: ${'{a: '.repeat(1900)}`],
    ['many uses of an anchor', `name: a\ndescription: d\nmetadata: [&a x${',*a'.repeat(2500)}]`],
    ['an alias of nothing', 'name: *a\ndescription: d'],
    ['nothing but commas', `name: [${','.repeat(8000)}]`],
    ['nothing but quotes', '"'.repeat(8000)],
  ])('refuses %s', async (_, yaml) => {
    expect(await refusal(file(yaml))).toMatchObject({ code: 'invalidYaml' })
  })

  it('takes many brackets, where they are closed or text', async () => {
    const description = `${'[a] {b} '.repeat(200)}${'['.repeat(100)}`
    expect(await parseSkill(file('name: a', `description: "${description}"`))).toMatchObject({ description })
    expect(await refusal(file('name: a', `description: "${description}["`))).toMatchObject({
      message: expect.stringContaining('more than 100 brackets'),
    })
  })

  it('runs nothing that a tag names', async () => {
    const { frontmatter } = await parseSkill(file('name: a', 'description: !!js/function "d"', 'bytes: !!binary aGk=', 'own: !x 1'))
    expect(frontmatter).toMatchObject({ description: 'd', bytes: 'aGk=', own: '1' })
  })

  it('looks for the second fence within 8,192 characters', async () => {
    const padded = (length: number) => file('name: a', 'description: d', `# ${'x'.repeat(length)}`)
    expect(await parseSkill(padded(8100))).toMatchObject({ name: 'a' })
    // A line that only begins like a fence, right at the limit.
    expect(await refusal(`${padded(8100).slice(0, -12).padEnd(8195, 'x')}\n---more\n`)).toMatchObject({ code: 'noFrontmatter' })
    expect(await refusal(padded(8200))).toMatchObject({ code: 'noFrontmatter', message: expect.stringContaining('8192') })
    expect(await refusal(file('name: a', 'description: d', '#'.repeat(10_000_000)))).toMatchObject({ code: 'noFrontmatter' })
    expect((await parseSkill(git + 'x'.repeat(1_000_000))).body).toHaveLength(1_000_007)
  })

  it('refuses what is no text', async () => {
    for (const odd of [undefined, null, 7, new Uint8Array(3)]) await expect(parseSkill(odd as never)).rejects.toThrow(ConfigError)
  })

  it('gives a skill or a SkillError for any text, and the instructions as they are', async () => {
    const line = fc.oneof(
      fc.constantFrom(
        '---',
        '...',
        'name: a',
        'description: b',
        '- x',
        '  c: d',
        'm: |',
        '\t',
        '&a',
        '*a',
        '"',
        '{',
        '%YAML 1.1',
        '? x',
        '!!map',
      ),
      fc.string({ unit: 'binary', maxLength: 20 }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        async (lines, end, isFenced) => {
          const text = (isFenced ? ['---', 'name: a', 'description: b', ...lines, '---', 'body'] : lines).join(end)
          const parsed = await parseSkill(text).catch((error: unknown) => error)
          if (SkillError.isInstance(parsed)) return
          expect(parsed).toMatchObject({ name: expect.any(String), description: expect.stringMatching(/\S/), frontmatter: {} })
          expect(text.endsWith(Reflect.get(parsed as object, 'body'))).toBe(true)
          expect(structuredClone(parsed)).toEqual(parsed)
        },
      ),
    )
  })
})
