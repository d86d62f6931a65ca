"""What MkDocs has no setting for: Chinese pages and code, and links to files beside docs/."""

import os
import re

WIDE = "[\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]+"


def on_page_markdown(markdown, page, config, **_):
    """Leads links that leave docs/, and those to its folders, to the repository. A link to nothing ends the build."""

    def lead(match):
        target = match.group(1)
        at = os.path.normpath(os.path.join("docs", os.path.dirname(page.file.src_path), target))
        if ":" in target or at.startswith("docs" + os.sep) and not os.path.isdir(at):
            return match.group()
        if not os.path.exists(at):
            raise SystemExit(f"docs/{page.file.src_path}: {target} leads nowhere")
        return f"]({config['extra']['home']}/blob/main/{at})"

    return re.sub(r"\]\(([^()\s#]+)\)", lead, markdown)


def on_page_content(html, **_):
    """Marks wide characters in code for assets/site.css: each takes two columns, so that tare's tables stay aligned."""

    def mark(pre):
        return re.sub(WIDE, r'<span class="wide">\g<0></span>', pre.group())

    return re.sub(r"<pre.*?</pre>", mark, html, flags=re.DOTALL)


def on_post_page(output, page, **_):
    """Says that a page is Chinese."""
    return output.replace('<html lang="en"', '<html lang="zh"', 1) if page.file.src_path.startswith("zh/") else output
