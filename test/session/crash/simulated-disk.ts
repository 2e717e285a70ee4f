/** A file: what its readers see, and how much of it would survive a power cut for certain. */
export interface SimulatedFile {
  text: string
  syncedLength: number
  modified: number
}

type Entry = SimulatedFile | SimulatedDirectory

/** A change of the names in a directory. A rename is one change: no file system leaves half of it. */
type NameChange = { add?: string; remove?: string; entry: Entry }

/** A directory: what its readers see, what is certain, and the changes between the two. */
class SimulatedDirectory {
  readonly names = new Map<string, Entry>()
  durable = new Map<string, Entry>()
  changes: NameChange[] = []

  change(change: NameChange): void {
    apply(this.names, change)
    this.changes.push(change)
  }

  sync(): void {
    this.durable = new Map(this.names)
    this.changes = []
  }
}

function apply(names: Map<string, Entry>, { add, remove, entry }: NameChange): void {
  if (remove !== undefined) names.delete(remove)
  if (add !== undefined) names.set(add, entry)
}

/** An error as the system gives it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code })
}

/**
 * A disk with a cache, as the worst that POSIX allows: what was not synced is lost, kept, cut anywhere or full of zeros after a power cut, and
 * of the names that were not synced, any changes are lost and any others kept, whatever their order. Syncing a file does not sync its name.
 */
export class SimulatedDisk {
  readonly #random: () => number
  readonly #root = new SimulatedDirectory()
  #clock = 0

  constructor(random: () => number) {
    this.#random = random
  }

  create(path: string): SimulatedFile {
    const { directory, name } = this.#place(path)
    if (directory.names.has(name)) throw systemError('EEXIST')
    const file = { text: '', syncedLength: 0, modified: this.#clock++ }
    directory.change({ add: name, entry: file })
    return file
  }

  append(file: SimulatedFile, text: string): void {
    file.text += text
    file.modified = this.#clock++
  }

  file(path: string): SimulatedFile {
    const { directory, name } = this.#place(path)
    const entry = directory.names.get(name)
    if (entry === undefined) throw systemError('ENOENT')
    if (entry instanceof SimulatedDirectory) throw systemError('EISDIR')
    return entry
  }

  directory(path: string): SimulatedDirectory {
    let directory = this.#root
    for (const part of path.split('/').filter(Boolean)) {
      const entry = directory.names.get(part)
      if (entry === undefined) throw systemError('ENOENT')
      if (!(entry instanceof SimulatedDirectory)) throw systemError('ENOTDIR')
      directory = entry
    }
    return directory
  }

  makeDirectory(path: string): void {
    const { directory, name } = this.#place(path)
    if (directory.names.has(name)) throw systemError('EEXIST')
    directory.change({ add: name, entry: new SimulatedDirectory() })
  }

  rename(from: string, to: string): void {
    const [source, target] = [this.#place(from), this.#place(to)]
    if (source.directory !== target.directory) throw systemError('EXDEV')
    source.directory.change({ add: target.name, remove: source.name, entry: this.file(from) })
  }

  remove(path: string): void {
    const { directory, name } = this.#place(path)
    directory.change({ remove: name, entry: this.file(path) })
  }

  removeDirectory(path: string): void {
    const { directory, name } = this.#place(path)
    const entry = this.directory(path)
    if (entry.names.size > 0) throw systemError('ENOTEMPTY')
    directory.change({ remove: name, entry })
  }

  /** Forgets what was only in the cache. */
  cutPower(): void {
    this.#restore(this.#root)
  }

  #restore(directory: SimulatedDirectory): void {
    for (const change of directory.changes) if (this.#random() < 0.5) apply(directory.durable, change)
    directory.names.clear()
    for (const [name, entry] of directory.durable) {
      directory.names.set(name, entry)
      if (entry instanceof SimulatedDirectory) this.#restore(entry)
      else this.#tear(entry)
    }
    directory.sync()
  }

  #tear(file: SimulatedFile): void {
    const certain = file.text.slice(0, file.syncedLength)
    const rest = file.text.slice(file.syncedLength)
    const kept = rest.slice(0, Math.floor(this.#random() * (rest.length + 1)))
    const fate = this.#random()
    const zeros = '\0'.repeat(rest.length - kept.length)
    file.text = certain + (fate < 0.4 ? '' : fate < 0.5 ? rest : fate < 0.6 ? kept + zeros : kept)
    file.syncedLength = file.text.length
  }

  #place(path: string): { directory: SimulatedDirectory; name: string } {
    const at = path.lastIndexOf('/')
    return { directory: this.directory(path.slice(0, at)), name: path.slice(at + 1) }
  }
}
