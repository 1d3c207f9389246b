// Contexts as they come from JSON: the fields of an object become variables, where nothing about them is odd.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "python/binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bandit_forest {

namespace {

// What a value sets: a variable, to a code. One behind the last variable sets none.
struct Outcome {
    std::size_t variable;
    std::uint8_t code = 1;
};

constexpr Outcome odd{SIZE_MAX};  // no variable: to be looked at in Python

struct Flag {
    std::size_t if_false;
    std::size_t if_true;

    Outcome outcome(PyObject* value) const {
        return value == Py_True ? Outcome{if_true} : value == Py_False ? Outcome{if_false} : odd;
    }
};

struct Number {
    std::vector<double> limits;          // where it is cut: its outcome is how many of them it reaches
    std::vector<std::size_t> variables;  // by outcome
    std::vector<std::uint8_t> codes;     // by outcome

    Outcome outcome(PyObject* value) const {
        double number = NAN;
        if (PyFloat_CheckExact(value)) {
            number = PyFloat_AsDouble(value);
        } else if (PyLong_CheckExact(value)) {
            constexpr long long most = 1LL << 53;  // beyond, a whole number may not be a double
            int overflow = 0;
            const long long whole = PyLong_AsLongLongAndOverflow(value, &overflow);
            number = overflow == 0 && whole >= -most && whole <= most ? static_cast<double>(whole) : NAN;
        }
        if (!std::isfinite(number)) {
            return odd;
        }
        const std::size_t reached = n_reached(number);
        return {variables[reached], codes[reached]};
    }

    // How many limits are not above a number. Both halves are equally likely, so there is no branch to be guessed.
    std::size_t n_reached(double number) const {
        std::size_t first = 0;
        for (std::size_t left = limits.size(); left > 0; left -= (left + 1) / 2) {
            const std::size_t half = (left + 1) / 2;
            first += limits[first + half - 1] <= number ? half : 0;
        }
        return first;
    }
};

struct Category {
    nb::dict variables;                // by value
    std::optional<std::size_t> other;  // where other values are allowed: their variable

    Outcome outcome(PyObject* value) const {
        if (!PyUnicode_CheckExact(value) && !PyLong_CheckExact(value)) {
            return odd;
        }
        PyObject* const found = PyDict_GetItemWithError(variables.ptr(), value);
        if (found != nullptr) {
            return {PyLong_AsSize_t(found)};
        }
        return other.has_value() ? Outcome{*other} : odd;
    }
};

struct Field {
    nb::object name;
    std::size_t in_row;                  // index of its value in a row
    std::optional<std::size_t> missing;  // where a missing value is allowed: its variable
    std::variant<Flag, Number, Category> kind;

    Outcome outcome(PyObject* value) const {
        if (value == nullptr || value == Py_None) {
            return missing.has_value() ? Outcome{*missing} : odd;
        }
        return std::visit([value](const auto& of_kind) { return of_kind.outcome(value); }, kind);
    }
};

class FieldReader {
   public:
    explicit FieldReader(std::size_t n_variables) : n_variables_(n_variables) {}

    void add_flag(nb::str name, std::size_t in_row, std::optional<std::size_t> missing, std::size_t if_false,
                  std::size_t if_true) {
        fields_.push_back({std::move(name), in_row, missing, Flag{if_false, if_true}});
    }
    void add_number(nb::str name, std::size_t in_row, std::optional<std::size_t> missing, std::vector<double> limits,
                    std::vector<std::size_t> variables, std::vector<std::uint8_t> codes) {
        if (variables.size() <= limits.size() || codes.size() <= limits.size()) {
            throw std::invalid_argument("each outcome of a number needs a variable and a code");
        }
        fields_.push_back(
            {std::move(name), in_row, missing, Number{std::move(limits), std::move(variables), std::move(codes)}});
    }
    void add_category(nb::str name, std::size_t in_row, std::optional<std::size_t> missing,
                      nb::typed<nb::dict, nb::object, nb::int_> variables, std::optional<std::size_t> other) {
        fields_.push_back({std::move(name), in_row, missing, Category{std::move(variables), other}});
    }

    // The variables of an object, a byte each. None when it has other fields, or an odd value.
    std::optional<nb::bytes> read(nb::handle context) {
        if (!PyDict_CheckExact(context.ptr())) {
            return std::nullopt;
        }
        Py_ssize_t position = 0;
        Py_ssize_t n_found = 0;
        const auto bits = read_by([&](Field& field) {
            PyObject* const value = find(context.ptr(), field, position);
            n_found += value == nullptr ? 0 : 1;
            return value;
        });
        return n_found == PyDict_Size(context.ptr()) ? bits : std::nullopt;
    }

    // The variables of a row with a value for each field, each at its index there; `absent` stands for no value.
    std::optional<nb::bytes> read_row(const nb::typed<nb::tuple, nb::any, nb::ellipsis>& row, nb::handle absent) {
        if (row.size() != fields_.size()) {
            throw std::invalid_argument("a row must have a value for each field");
        }
        return read_by([&](const Field& field) {
            PyObject* const value = PyTuple_GetItem(row.ptr(), static_cast<Py_ssize_t>(field.in_row));
            return value == absent.ptr() ? nullptr : value;
        });
    }

   private:
    // The variables of what gives the value of each field, null where there is none. None when a value is odd.
    template <typename ValueOf>
    std::optional<nb::bytes> read_by(ValueOf value_of) {
        auto bits = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(n_variables_)));
        if (!bits.is_valid()) {
            throw nb::python_error();
        }
        char* const values = PyBytes_AsString(bits.ptr());
        std::fill_n(values, n_variables_, '\0');
        for (Field& field : fields_) {
            const Outcome outcome = field.outcome(value_of(field));
            if (PyErr_Occurred() != nullptr) {  // texts of another class may refuse to be compared
                throw nb::python_error();
            }
            if (outcome.variable == odd.variable) {
                return std::nullopt;
            }
            if (outcome.variable < n_variables_) {  // otherwise an outcome without a variable
                values[outcome.variable] = static_cast<char>(outcome.code);
            }
        }
        return bits;
    }

    // The value of a field, which is the next one in an object whose fields come in order; null when it is not there.
    static PyObject* find(PyObject* context, Field& field, Py_ssize_t& position) {
        PyObject* name = nullptr;
        PyObject* value = nullptr;
        if (PyDict_Next(context, &position, &name, &value) != 0) {
            if (name == field.name.ptr()) {
                return value;
            }
            if (PyUnicode_CheckExact(name) && PyUnicode_Compare(name, field.name.ptr()) == 0) {
                field.name = nb::borrow(name);  // a parser gives the same text again, which is known without being read
                return value;
            }
        }
        return PyDict_GetItemWithError(context, field.name.ptr());
    }

    std::size_t n_variables_;
    std::vector<Field> fields_;  // in the order of the project
};

}  // namespace

void bind_fields(nb::module_& m) {
    nb::class_<FieldReader>(m, "FieldReader")
        .def(nb::init<std::size_t>(), "n_variables"_a)
        .def("add_flag", &FieldReader::add_flag, "name"_a, "in_row"_a, "missing"_a.none(), "if_false"_a, "if_true"_a)
        .def("add_number", &FieldReader::add_number, "name"_a, "in_row"_a, "missing"_a.none(), "limits"_a,
             "variables"_a, "codes"_a)
        .def("add_category", &FieldReader::add_category, "name"_a, "in_row"_a, "missing"_a.none(), "variables"_a,
             "other"_a.none())
        .def("read", &FieldReader::read, "context"_a.none())
        .def("read_row", &FieldReader::read_row, "row"_a, "absent"_a.none());
}

}  // namespace bandit_forest
