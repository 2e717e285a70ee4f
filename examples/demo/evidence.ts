/** What the tools showed about the TypeScript files of the repository. */
export interface Counted {
  ts: number
  tsx: number
  /** Absent when no file was measured. */
  largest?: { path: string; lines: number }
}

/** Counts tracked files and measures them. The sandbox runs as another user, hence `safe.directory`. */
export const gitCommand = [
  "git -c safe.directory='*' ls-files -z '*.ts' '*.tsx'",
  'xargs -0 --no-run-if-empty wc -l',
  "grep -v ' total$'",
  'sort -rn',
].join(' | ')

/** Reads the output of `gitCommand`: one `lines path` per file, the largest first. `undefined` when the command failed or was cut. */
export function countFromGit(output: string): Counted | undefined {
  if (!output.startsWith('Exit code: 0\n') || output.includes('(output truncated)')) return undefined
  const files = [...output.matchAll(/^ *(\d+) (.+)$/gm)].map(([, lines, path]) => ({ path: path ?? '', lines: Number(lines) }))
  return files.length === 0 ? undefined : counted(files)
}

/** What reading one line of each file showed: `outputs` belong to `paths`, in order. */
export function countFromReads(paths: readonly string[], outputs: readonly string[]): Counted {
  const files = paths.map((path, index) => ({ path, lines: lengthOf(outputs[index] ?? '') }))
  return counted(files)
}

/** The paths of a `list_files` output. */
export function listedFiles(output: string): string[] {
  return (
    output
      .split('\n\n')[0]
      ?.split('\n')
      .filter((line) => line !== '' && !line.startsWith('No files found')) ?? []
  )
}

/** Whether a `list_files` output shows everything it found. */
export function isListingWhole(output: string): boolean {
  return output !== '' && !/showing first \d+\)$/.test(output)
}

/** The TypeScript files among `paths`. */
export function typeScriptFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => /\.tsx?$/.test(path))
}

/** The length of a file from the header of a `read_file` output. */
function lengthOf(output: string): number {
  return Number(/^\[(?:Lines \d+-\d+ of )?(\d+)(?: lines)?\]/.exec(output)?.[1] ?? 0)
}

function counted(files: readonly { path: string; lines: number }[]): Counted {
  const tsx = files.filter(({ path }) => path.endsWith('.tsx')).length
  const largest = files.reduce((most, file) => (file.lines > most.lines ? file : most), { path: '', lines: 0 })
  return { ts: files.length - tsx, tsx, ...(largest.lines > 0 && { largest }) }
}
