import type { SourceContent } from './content-kind.ts';
import { WorkbookFault, XlsxArchive } from './xlsx-archive.ts';
import { isWorkbook } from './xlsx-workbook.ts';

const SAVE_WORKBOOK = 'open it and save it as XLSX or CSV';

const OTHER_ARCHIVES: readonly { readonly part: RegExp; readonly is: string; readonly advice: string }[] = [
  { part: /^xl\/workbook\.bin$/, is: 'is a binary Excel workbook (XLSB)', advice: SAVE_WORKBOOK },
  { part: /^content\.xml$/, is: 'is an OpenDocument file (ODS or ODT)', advice: SAVE_WORKBOOK },
  { part: /^word\//, is: 'is a Word document, not an export', advice: 'export the ads as JSON, CSV or XLSX' },
];

export const archiveContentOf = async (path: string): Promise<SourceContent> => {
  try {
    using archive = await XlsxArchive.open(path);
    if (isWorkbook(archive)) return { kind: 'spreadsheet' };
    const other = OTHER_ARCHIVES.find(({ part }) => archive.names().some((name) => part.test(name)));
    return {
      kind: 'other',
      is: other?.is ?? 'is a ZIP archive, not an export',
      advice: other?.advice ?? 'unpack it and import the files that it contains',
    };
  } catch (error) {
    if (!(error instanceof WorkbookFault)) throw error;
    return { kind: 'other', is: error.message, advice: 'fetch or save the file again' };
  }
};
