// The process that is killed while it imports: argv directory, file with the text, at which change of the disk, how much of that is still done (of
// an append, from 0 to 1). Says how many changes there were when it comes to the end.
import { readFileSync, writeSync } from 'node:fs'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { importSession, logSessionStore } from '../../../../src/session.ts'

const [directory = '', text = '', last = '', done = ''] = process.argv.slice(2)
const operations = nodeFileOperations()
let changes = 0

async function change<T>(act: () => Promise<T>, begin?: () => Promise<void>): Promise<T> {
  if (++changes === Number(last)) {
    await begin?.()
    process.kill(process.pid, 'SIGKILL')
    // The signal may come a moment later; nothing more is done until then.
    await new Promise(() => undefined)
  }
  return act()
}

const killed: FileOperations = {
  ...operations,
  createExclusive: (path) => change(() => operations.createExclusive(path)),
  append: (path, lines) =>
    change(
      () => operations.append(path, lines),
      () => operations.append(path, lines.slice(0, Math.floor(lines.length * Number(done)))),
    ),
  sync: (path) => change(() => operations.sync(path)),
  syncDirectory: (path) => change(() => operations.syncDirectory(path)),
  rename: (from, to) => change(() => operations.rename(from, to)),
  remove: (path) => change(() => operations.remove(path)),
  makeDirectory: (path) => change(() => operations.makeDirectory(path)),
}
const store = logSessionStore(fileDriver(directory, killed, { segmentBytes: 3000, atOnceBytes: 4000 }))
await importSession(store, readFileSync(text, 'utf8'), { replace: true })
writeSync(1, `${changes}\n`)
